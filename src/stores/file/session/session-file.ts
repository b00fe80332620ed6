import type { Entry } from '../../../state/record/entry.js';
import { StoredLog } from '../../../state/stored-log.js';
import { checksum } from '../line.js';

/**
 * A line of the log that contains entries: the position of its first entry in the session, and `at`, the byte position
 * of the line.
 */
interface LinePosition {
  readonly position: number;
  readonly at: number;
}

/** The process whose run has claimed a session, and the lifetime of this claim in milliseconds. */
interface ClaimOrigin {
  readonly process: string;
  readonly ttlMs: number;
}

/** A session in memory, read from its log and the files beside the log. */
export class SessionFile {
  id = '';
  readonly log = new StoredLog();
  /** Time at which the session expires, in milliseconds since the epoch. Infinity means never. */
  end = Number.POSITIVE_INFINITY;
  /**
   * Returns the checksums of the ids of all entries before `log.start`, as one string. Undefined if the stored
   * checksums do not belong to this position of the log.
   */
  older: () => Promise<string | undefined> = async () => '';
  /** The lines of the log that contain the entries in memory. */
  readonly lines: LinePosition[] = [];
  /** The number of entries before the stored bookmark. 0 without a bookmark. */
  marked = 0;
  origin: ClaimOrigin | undefined = undefined;
  /**
   * Until this time an expired claim remains valid, because its process is alive. 0 if the process is not known to be
   * alive.
   */
  keptUntil = 0;
  /** The JSON of the claim and the summary on disk. Prevents writing a file that has not changed. */
  readonly saved = { claim: '', summary: '' };

  /**
   * Returns true if an entry with the same id is stored before `log.start`. May also return true for a new entry,
   * because it compares checksums.
   */
  async hasOlder(entries: readonly Entry[]): Promise<boolean> {
    const older = await this.older();
    return older === undefined || entries.some(({ id }) => older.includes(checksum(id)));
  }
}
