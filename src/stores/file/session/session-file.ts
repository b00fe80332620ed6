import type { Entry } from '../../../state/record/entry.js';
import { StoredLog } from '../../../state/stored-log.js';
import { checksum } from '../line.js';

/** The position of a line with entries: its first entry in the record, and its byte position in the file. */
interface LinePosition {
  readonly position: number;
  readonly at: number;
}

/** The process that holds the claim of a session, and the lifetime of the claim. */
interface ClaimOrigin {
  readonly process: string;
  readonly ttlMs: number;
}

/** A session in memory, read from its log and the files beside the log. */
export class SessionFile {
  id = '';
  readonly log = new StoredLog();
  /** The time at which the session expires. */
  end = Number.POSITIVE_INFINITY;
  /**
   * Reads the checksums of the ids of the entries before `log.start`. Resolves with undefined if the file belongs to
   * another bookmark.
   */
  older: () => Promise<string | undefined> = async () => '';
  /** The lines with the entries from `log.start` on. */
  readonly lines: LinePosition[] = [];
  /** The position of the stored bookmark. */
  marked = 0;
  origin: ClaimOrigin | undefined = undefined;
  /** Until this time, the claim is kept because its process is alive. */
  keptUntil = 0;
  /** The stored fields of the claim and the summary. */
  readonly saved = { claim: '', summary: '' };

  /** Returns true if one of the entries is stored before `log.start`. May also return true for a new entry. */
  async hasOlder(entries: readonly Entry[]): Promise<boolean> {
    const older = await this.older();
    return older === undefined || entries.some(({ id }) => older.includes(checksum(id)));
  }
}
