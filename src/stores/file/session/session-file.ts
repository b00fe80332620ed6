import type { Entry } from '../../../state/record/entry.js';
import { StoredLog } from '../../../state/stored-log.js';
import { checksum } from '../line.js';

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
  /** Reads the checksums of the ids of the entries before `log.start`. Undefined if the file with them is of other ones. */
  older: () => Promise<string | undefined> = async () => '';
  /** The lines with entries from `log.start` on. */
  readonly lines: LinePosition[] = [];
  /** The position of the stored bookmark. */
  marked = 0;
  origin: ClaimOrigin | undefined = undefined;
  /** The claim is kept until this time, because its process is alive. */
  keptUntil = 0;
  /** The fields of the claim and of the summary, as they are on disk. */
  readonly saved = { claim: '', summary: '' };

  /** Returns true if one of the entries is stored before `log.start`. May return true for others. */
  async hasOlder(entries: readonly Entry[]): Promise<boolean> {
    const older = await this.older();
    return older === undefined || entries.some(({ id }) => older.includes(checksum(id)));
  }
}
