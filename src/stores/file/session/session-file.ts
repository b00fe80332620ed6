import { StoredLog } from '../../../state/stored-log.js';

/** The position of a line with entries: in the record, and in the file in bytes. */
interface LinePosition {
  readonly position: number;
  readonly at: number;
}

/** The process that holds the claim of a session, and the lifetime of the claim. */
interface ClaimOrigin {
  readonly process: string;
  readonly ttlMs: number;
}

/** A session in memory, from its log and the files beside it. */
export class SessionFile {
  id = '';
  readonly log = new StoredLog();
  /** The time at which the session expires. */
  end = Number.POSITIVE_INFINITY;
  /** The position of the first entry in memory. The array has holes before it. */
  start = 0;
  /** The ids of the entries before `start`: JSON strings without separators. */
  older = '';
  /** The lines with entries from `start` on. */
  readonly lines: LinePosition[] = [];
  /** The position of the stored bookmark. */
  marked = 0;
  origin: ClaimOrigin | undefined = undefined;
  /** The claim is kept until this time, because its process is alive. */
  keptUntil = 0;
  /** The fields of the claim and of the summary, as they are on disk. */
  readonly saved = { claim: '', summary: '' };

  /** Returns true if an entry before `start` has this id. May return true for another id that contains it. */
  isOlder(id: string): boolean {
    return this.older.includes(JSON.stringify(id));
  }
}
