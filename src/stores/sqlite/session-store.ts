import type { Clock } from '../../internal/clock.js';
import { newOwner, ownerState } from '../../process/files/lock-owner.js';
import { NOT_STORED } from '../../state/memory-session-store.js';
import type { Entry } from '../../state/record/entry.js';
import { entryFromJson } from '../../state/record/entry-json.js';
import { cursorOf, resolveSessionQuery } from '../../state/session-list.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from '../../state/session-store.js';
import { StoredLog } from '../../state/stored-log.js';
import { type DetailColumns, detailColumns, type SummaryColumns, summaryOf } from '../sql-session.js';
import { fromSqlText, toSqlText } from '../sql-text.js';
import { SqliteDatabase, type SqliteSession } from './database.js';
import { SqliteDataError } from './error.js';
import { resolveSqliteOptions, type SqliteSessionStoreOptions, sessionStoreRules } from './options.js';
import { extendClaim, holderOf, isHeldByOther, type Moment, takeClaim } from './session-claim.js';
import {
  addEntries,
  bodiesIn,
  createSession,
  entryRows,
  hasEntries,
  liveSession,
  type RecordRows,
  type SessionRow,
  selectRecord,
  settle,
  updateDetails,
} from './session-rows.js';

/**
 * Stores sessions in a file of SQLite: with `node:sqlite` of Node 22.13 or newer, or with a `client`. Each entry is a row. An
 * acknowledged write survives if the process is killed at any moment. Any number of processes of one machine may use the
 * file at once. On Linux, a claim holds for up to ten times its `ttlMs` while its process lives.
 *
 * Throws a SqliteUnsupportedError for a `file` if the runtime has no `node:sqlite`. Rejects with a SqliteUnavailableError
 * if the file cannot be used within `timeoutMs`.
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
    let found = await this.database.writeLater((db) => this.tryClaim(db, id, { claim, details }));
    while (typeof found === 'string') {
      const checked = { process: found, isAlive: (await ownerState(found)) === 'alive' };
      found = await this.database.writeLater((db) => this.tryClaim(db, id, { claim, details, checked }));
    }
    if (!found.claimed) return found;
    const { record, lost } = found;
    return { ...this.record(id, record), claimed: true, ...(lost !== undefined && { lost }) };
  }

  async append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const rows = entryRows(append.entries);
    const own = new Set(append.entries.map((entry) => entry.id));
    const answer = await this.database.write((db) => {
      const moment = this.moment();
      const row = liveSession(db, toSqlText(id), moment.now);
      if (row === undefined) return undefined;
      const bodies = bodiesIn(db, row, { offset: append.length });
      const entries = this.decode(id, bodies, append.length).filter((entry) => !own.has(entry.id));
      if (row.claim_token !== toSqlText(append.token)) {
        return { owned: false, stored: hasEntries(db, row, rows), released: false, length: row.length, entries };
      }
      const { length } = addEntries(db, row, { rows, ...moment });
      const released = append.release === true && entries.length === 0;
      settle(db, row, { ...append, released });
      return { owned: true, stored: true, released, length, entries };
    });
    return answer ?? NOT_STORED;
  }

  async renew(id: string, { token, ttlMs, waitsFor }: SessionRenewal): Promise<boolean> {
    return this.database.writeLater((db) => {
      const moment = this.moment();
      const row = liveSession(db, toSqlText(id), moment.now);
      if (row?.claim_token !== toSqlText(token)) return false;
      extendClaim(db, row.serial, { ttlMs, waitsFor, process: this.process, ...moment });
      return true;
    });
  }

  async post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    const rows = entryRows([post]);
    return this.database.write((db) => {
      const moment = this.moment();
      const row = liveSession(db, toSqlText(id), moment.now);
      if (row === undefined) return undefined;
      const after = addEntries(db, row, { rows, ...moment });
      const added = after.length > row.length;
      if (added) addEntries(db, after, { rows: entryRows(causedBy(post, row)), ...moment });
      const holder = holderOf(row);
      return { added, ...(holder && { holder }) };
    });
  }

  async load(id: string, query: RecordQuery = {}): Promise<StoredRecord | undefined> {
    const { now, ends } = this.moment();
    const found = await this.database.read((db) => {
      const row = liveSession(db, toSqlText(id), now);
      return row && { row, record: selectRecord(db, row, query) };
    });
    if (found === undefined) return undefined;
    const { row, record } = found;
    if (this.isDue(row, now)) {
      await this.database.write((db) => db.change('UPDATE sessions SET ends = ? WHERE serial = ?', ends, row.serial));
    }
    return this.record(id, record);
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
    const sessions = rows.slice(0, limit).map(summaryOf);
    const last = sessions.at(-1);
    return { sessions, next: last !== undefined && rows.length > limit ? cursorOf(last) : undefined };
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const columns = detailColumns({ title, data });
    const isWrite = title !== undefined || data !== undefined;
    const row = await this.database[isWrite ? 'write' : 'read']((db) => {
      const found = liveSession(db, toSqlText(id), this.clock.now());
      if (found === undefined || found.length === 0) return undefined;
      return isWrite ? updateDetails(db, found, columns) : found;
    });
    return row && summaryOf(row);
  }

  async delete(id: string): Promise<void> {
    await this.database.write((db) => db.change('DELETE FROM sessions WHERE id = ?', toSqlText(id)));
  }

  /** Closes the file. A later call opens it again. A `client` stays open. */
  close(): void {
    this.database.close();
  }

  /** Claims a session. Returns the process of a late claim if it was not checked. */
  private tryClaim(db: SqliteSession, id: string, { claim, details, checked }: Attempt): ClaimRows | Refusal | string {
    const moment = this.moment();
    const stored = liveSession(db, toSqlText(id), moment.now);
    const other = stored && isHeldByOther(stored, claim.token) ? stored : undefined;
    if (other !== undefined && other.claim_last > moment.now) {
      const isLate = other.claim_until <= moment.now;
      if (isLate && checked?.process !== other.claim_process) return other.claim_process;
      if (!isLate || checked?.isAlive) return { claimed: false, holder: holderOf(other) as SessionHolder };
    }
    const row = stored ?? createSession(db, toSqlText(id), moment);
    if (row.length === 0) updateDetails(db, row, details);
    takeClaim(db, row.serial, claim);
    const claimed = extendClaim<SessionRow>(db, row.serial, {
      ttlMs: claim.ttlMs,
      process: this.process,
      ...moment,
    });
    const record = selectRecord(db, claimed, { known: claim.known, from: 'context' });
    return { claimed: true, record, lost: other && fromSqlText(other.claim_run) };
  }

  private moment(): Moment {
    const now = this.clock.now();
    // Sessions get 1 % more time than `ttlMs`, so that most loads need not write.
    return { now, ends: Number.isFinite(this.ttlMs) ? now + this.ttlMs + Math.floor(this.ttlMs / 100) : null };
  }

  /** True if a load must move the end of a session. */
  private isDue({ ends }: SessionRow, now: number): boolean {
    return Number.isFinite(this.ttlMs) ? ends === null || ends < now + this.ttlMs : ends !== null;
  }

  private record(id: string, { bodies, ...record }: RecordRows): StoredRecord {
    return { ...record, entries: this.decode(id, bodies, record.offset) };
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

/** One try to claim a session. */
interface Attempt {
  readonly claim: SessionClaim;
  readonly details: DetailColumns;
  /** The process of a late claim that was checked. */
  readonly checked?: { readonly process: string; readonly isAlive: boolean };
}

type Refusal = ClaimAnswer & { readonly claimed: false };

/** A claimed session whose entries are not decoded. */
interface ClaimRows {
  readonly claimed: true;
  readonly record: RecordRows;
  readonly lost: string | undefined;
}

/** Returns the entries that a post causes: a stop that nobody can take up is dropped. */
function causedBy(post: Entry, row: SessionRow): Entry[] {
  const log = new StoredLog();
  const holder = holderOf(row);
  log.held = holder && { ...holder, token: '' };
  log.waits = row.waits === null ? null : fromSqlText(row.waits);
  const added: Entry[] = [];
  log.post(post, 0, (entry) => added.push(entry));
  return added.slice(1);
}
