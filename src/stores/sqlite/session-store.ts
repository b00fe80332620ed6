import type { Clock } from '../../internal/clock.js';
import { newOwner, ownerState } from '../../process/files/lock-owner.js';
import { NOT_STORED } from '../../state/memory-session-store.js';
import type { Entry } from '../../state/record/entry.js';
import { entryFromJson } from '../../state/record/entry-json.js';
import { pageOf, resolveSessionQuery } from '../../state/session-list.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from '../../state/session-store.js';
import type { StoredLog } from '../../state/stored-log.js';
import { type DetailColumns, detailColumns, type SummaryColumns, summaryOf } from '../sql-session.js';
import { toSqlText } from '../sql-text.js';
import { SqliteDatabase, type SqliteSession } from './database.js';
import { SqliteDataError } from './error.js';
import { resolveSqliteOptions, type SqliteSessionStoreOptions, sessionStoreRules } from './options.js';
import {
  bodiesIn,
  createSession,
  liveSession,
  logOf,
  type Moment,
  type SessionRow,
  saveClaim,
  saveRecord,
  updateDetails,
} from './session-rows.js';

/**
 * Stores sessions in a SQLite file. Needs `node:sqlite` of Node 22.13 or newer, or an open database as `client`. After
 * a write has resolved, it survives if the process is killed. Any number of processes on one machine may use the file
 * at once.
 *
 * A run claims a session before it adds entries. On Linux, no other process can take over an expired claim while the
 * process of the claim is alive. This protection ends after ten times the lifetime of the claim.
 *
 * Throws a SqliteUnsupportedError for a `file` if the runtime has no `node:sqlite`. Rejects with a
 * SqliteUnavailableError if the file cannot be used within `timeoutMs`.
 *
 * @example
 * const store = new SqliteSessionStore({ file: './sessions.db' });
 * const agent = new Agent({ model, store });
 */
export class SqliteSessionStore implements SessionStore {
  private readonly database: SqliteDatabase;
  private readonly clock: Clock;
  private readonly ttlMs: number;
  private readonly process = newOwner();

  constructor(options: SqliteSessionStoreOptions) {
    const { place, timeoutMs, clock, ttlMs } = resolveSqliteOptions(options, sessionStoreRules);
    this.database = new SqliteDatabase(place, timeoutMs);
    this.clock = clock;
    this.ttlMs = ttlMs;
  }

  async claim(id: string, claim: SessionClaim): Promise<ClaimAnswer> {
    const details = detailColumns(claim.details);
    let answer = await this.database.writeLater((db) => this.tryClaim(db, id, { claim, details }));
    while (typeof answer === 'string') {
      const checked = { process: answer, isAlive: (await ownerState(answer)) === 'alive' };
      answer = await this.database.writeLater((db) => this.tryClaim(db, id, { claim, details, checked }));
    }
    return answer;
  }

  async append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const answer = await this.add(id, append.length, (log, now, added) => log.append(append, now, added));
    return answer ?? NOT_STORED;
  }

  async renew(id: string, renewal: SessionRenewal): Promise<boolean> {
    return this.database.writeLater((db) => {
      const moment = this.moment();
      const row = liveSession(db, id, moment.now);
      if (row === undefined) return false;
      const log = logOf(db, row);
      if (!log.renew(renewal, moment.now)) return false;
      saveClaim(db, row, { log, ttlMs: renewal.ttlMs, process: this.process, ...moment });
      return true;
    });
  }

  async post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    return this.add(id, Number.POSITIVE_INFINITY, (log, now, added) => log.post(post, now, added));
  }

  async load(id: string, query: RecordQuery = {}): Promise<StoredRecord | undefined> {
    const { now, ends } = this.moment();
    const found = await this.database.read((db) => {
      const row = liveSession(db, id, now);
      if (row === undefined) return undefined;
      const record = logOf(db, row).load(query);
      const bodies = bodiesIn(db, row, { offset: record.offset, before: query.before });
      return { row, record: { ...record, entries: this.decode(id, bodies, record.offset) } };
    });
    if (found === undefined) return undefined;
    const { row, record } = found;
    if (this.isDue(row, now)) {
      await this.database.write((db) => db.change('UPDATE sessions SET ends = ? WHERE serial = ?', ends, row.serial));
    }
    return record;
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const from = [after?.updatedAt ?? Number.MAX_SAFE_INTEGER, after === undefined ? '' : toSqlText(after.id)] as const;
    const rows = await this.database.read((db) =>
      db.rows<SummaryColumns>(
        `SELECT * FROM sessions WHERE owner = ? AND length > 0 AND (ends IS NULL OR ends > ?)
         AND (updated < ? OR updated = ? AND id > ?) ORDER BY updated DESC, id LIMIT ?`,
        toSqlText(owner),
        this.clock.now(),
        from[0],
        ...from,
        limit + 1,
      ),
    );
    return pageOf(rows.map(summaryOf), limit);
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const columns = detailColumns({ title, data });
    const isWrite = title !== undefined || data !== undefined;
    const row = await this.database[isWrite ? 'write' : 'read']((db) => {
      const found = liveSession(db, id, this.clock.now());
      if (found === undefined || found.length === 0) return undefined;
      return isWrite ? updateDetails(db, found, columns) : found;
    });
    return row && summaryOf(row);
  }

  async delete(id: string): Promise<void> {
    await this.database.write((db) => db.change('DELETE FROM sessions WHERE id = ?', toSqlText(id)));
  }

  /** Closes the database file. A later call opens it again. A database that was passed as `client` stays open. */
  close(): void {
    this.database.close();
  }

  /**
   * Tries to claim a session. Returns a process if its claim has expired and `checked` does not tell whether it is
   * alive. The caller then checks this process and tries again.
   */
  private tryClaim(db: SqliteSession, id: string, { claim, details, checked }: Attempt): ClaimAnswer | string {
    const moment = this.moment();
    const { now } = moment;
    const row = liveSession(db, id, now) ?? createSession(db, id, now);
    const log = logOf(db, row);
    const { held } = log;
    const isLate = held !== undefined && held.token !== claim.token && held.until <= now && now < row.claim_last;
    if (isLate && checked?.process !== row.claim_process) return row.claim_process;
    const answer = log.claim(claim, now, isLate && checked?.isAlive);
    if (!answer.claimed) return answer;
    if (row.length === 0) updateDetails(db, row, details);
    saveClaim(db, row, { log, ttlMs: claim.ttlMs, process: this.process, ...moment });
    return { ...answer, entries: this.decode(id, bodiesIn(db, row, answer), answer.offset) };
  }

  /**
   * Runs `work` on a session in memory, with its entries from position `from` on. Stores the entries that `work` adds.
   */
  private add<Answer>(id: string, from: number, work: LogWork<Answer>): Promise<Answer | undefined> {
    return this.database.write((db) => {
      const { now, ends } = this.moment();
      const row = liveSession(db, id, now);
      if (row === undefined) return undefined;
      const log = logOf(db, row);
      log.start = Math.min(from, row.length);
      const bodies = bodiesIn(db, row, { offset: log.start });
      for (const entry of this.decode(id, bodies, log.start)) log.entries.push(entry);
      const added: Entry[] = [];
      const answer = work(log, now, (entry) => added.push(entry));
      saveRecord(db, row, { log, added, ends });
      return answer;
    });
  }

  private moment(): Moment {
    const now = this.clock.now();
    // Sessions live 1 % longer than `ttlMs`, so that most loads need no write.
    return { now, ends: Number.isFinite(this.ttlMs) ? now + this.ttlMs + Math.floor(this.ttlMs / 100) : null };
  }

  /** Returns true if a load must extend the lifetime of a session. */
  private isDue({ ends }: SessionRow, now: number): boolean {
    return Number.isFinite(this.ttlMs) ? ends === null || ends < now + this.ttlMs : ends !== null;
  }

  private decode(session: string, bodies: readonly string[], offset: number): Entry[] {
    return bodies.map((body, at) => {
      try {
        return entryFromJson(body);
      } catch (cause) {
        throw new SqliteDataError(
          this.database.file,
          `entry ${offset + at} of session "${session}" is not JSON. Repair the row, or delete the session.`,
          cause,
        );
      }
    });
  }
}

/** One attempt to claim a session. */
interface Attempt {
  readonly claim: SessionClaim;
  readonly details: DetailColumns;
  /** The process of an expired claim, and whether it is alive. Undefined if no process was checked. */
  readonly checked?: { readonly process: string; readonly isAlive: boolean };
}

/** Changes a session in memory. Must call `added` with each new entry, so that the entry is stored. */
type LogWork<Answer> = (log: StoredLog, now: number, added: (entry: Entry) => void) => Answer;
