import { SessionExistsError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import type { Message } from '../../model/message.js';
import { messageFromJson } from '../../state/message-json.js';
import { cursorOf, resolveSessionQuery } from '../../state/session-list.js';
import {
  checkKeep,
  type KnownSession,
  type SessionChange,
  type SessionClaim,
  type SessionDetails,
  type SessionFork,
  type SessionPage,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  type StoredSession,
} from '../../state/session-store.js';
import { detailColumns, encodeMessages, type SummaryColumns, summaryOf } from '../sql-session.js';
import { fromSqlText, toSqlText } from '../sql-text.js';
import { SqliteDatabase, type SqliteSession } from './database.js';
import { SqliteDataError } from './error.js';
import { resolveSqliteOptions, type SqliteSessionStoreOptions, sessionStoreRules } from './options.js';
import { accepts, appendMessages, createSession, liveSession, type SessionRow, sweepSessions } from './session-rows.js';

/**
 * Stores sessions in a file of SQLite, for Node 22.13 or newer. Each message is a row. An acknowledged write survives if the
 * process is killed at any moment. Any number of processes of one machine may use the file at once.
 *
 * Throws a SqliteUnsupportedError if the runtime has no `node:sqlite`. Rejects with a SqliteUnavailableError if the file
 * cannot be used within `timeoutMs`.
 *
 * @example
 * const store = new SqliteSessionStore({ file: './sessions.db' });
 * const agent = new Agent({ model, store });
 */
export class SqliteSessionStore implements SessionStore {
  private readonly database: SqliteDatabase;
  private readonly clock: Clock;
  private readonly ttlMs: number;

  constructor(options: SqliteSessionStoreOptions) {
    const { file, timeoutMs, clock, ttlMs } = resolveSqliteOptions(options, sessionStoreRules);
    this.database = new SqliteDatabase(file, timeoutMs);
    this.clock = clock;
    this.ttlMs = ttlMs;
  }

  async load(id: string, known?: KnownSession): Promise<StoredSession | undefined> {
    const now = this.clock.now();
    const found = await this.database.read((db) => {
      const row = liveSession(db, toSqlText(id), now);
      if (row === undefined) return undefined;
      const keep = keptMessages(db, row, known);
      const text = 'SELECT body FROM messages WHERE session = ? AND position >= ? ORDER BY position';
      return { row, keep, bodies: db.rows<{ body: string }>(text, row.serial, keep) };
    });
    if (found === undefined) return undefined;
    const { row, keep, bodies } = found;
    if (this.isDue(row, now)) await this.extend(row, now);
    const messages = bodies.map(({ body }, at) => this.readMessage(id, keep + at, body));
    return { uid: fromSqlText(row.uid), revision: row.revision, keep, messages };
  }

  async save(id: string, change: SessionChange, expected: number): Promise<number | undefined> {
    const details = detailColumns(change.details);
    const bodies = encodeMessages(change.append);
    return this.database.write((db) => {
      const now = this.clock.now();
      const stored = liveSession(db, toSqlText(id), now);
      if (!accepts(stored, change, { expected, now })) return undefined;
      const row =
        stored ?? createSession(db, { id: toSqlText(id), uid: change.uid ?? crypto.randomUUID(), details, now });
      appendMessages(db, row, { keep: change.keep, bodies });
      db.change(
        'UPDATE sessions SET revision = ?, length = ?, updated = ?, ends = ?, attempt = 0, claim = NULL, claimed_until = NULL WHERE serial = ?',
        row.revision + 1,
        change.keep + bodies.length,
        now,
        this.endAfter(now),
        row.serial,
      );
      sweepSessions(db, now);
      return row.revision + 1;
    });
  }

  async delete(id: string): Promise<void> {
    await this.database.write((db) => db.change('DELETE FROM sessions WHERE id = ?', toSqlText(id)));
  }

  async claim(id: string, { token, revision, ttlMs }: SessionClaim): Promise<number | undefined> {
    return this.database.write((db) => {
      const now = this.clock.now();
      const row = liveSession(db, toSqlText(id), now);
      if (row === undefined || row.revision !== revision) return undefined;
      const isHeld = row.claim !== null && (row.claimed_until ?? 0) > now;
      const isMine = row.claim === toSqlText(token);
      if (isHeld && !isMine) return undefined;
      const attempt = row.attempt + (isMine ? 0 : 1);
      const text = 'UPDATE sessions SET claim = ?, claimed_until = ?, attempt = ? WHERE serial = ?';
      db.change(text, toSqlText(token), now + ttlMs, attempt, row.serial);
      return attempt;
    });
  }

  async renew(id: string, token: string, ttlMs: number): Promise<boolean> {
    return this.database.write((db) => {
      const now = this.clock.now();
      const row = liveSession(db, toSqlText(id), now);
      if (row?.claim !== toSqlText(token)) return false;
      return db.change('UPDATE sessions SET claimed_until = ? WHERE serial = ?', now + ttlMs, row.serial) === 1;
    });
  }

  async release(id: string, token: string): Promise<void> {
    const text = 'UPDATE sessions SET claim = NULL, claimed_until = NULL WHERE id = ? AND claim = ?';
    await this.database.write((db) => db.change(text, toSqlText(id), toSqlText(token)));
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const from = [after?.updatedAt ?? Number.MAX_SAFE_INTEGER, after === undefined ? '' : toSqlText(after.id)] as const;
    const rows = await this.database.read((db) =>
      db.rows<SummaryColumns>(
        `SELECT * FROM sessions WHERE owner = ? AND (ends IS NULL OR ends > ?)
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
    const text = 'UPDATE sessions SET title = coalesce(?, title), data = coalesce(?, data) WHERE serial = ?';
    const isWrite = title !== undefined || data !== undefined;
    return this.database[isWrite ? 'write' : 'read']((db) => {
      const now = this.clock.now();
      const row = liveSession(db, toSqlText(id), now);
      if (row === undefined) return undefined;
      if (isWrite) db.change(text, columns.title, columns.data, row.serial);
      return summaryOf(liveSession(db, toSqlText(id), now) ?? row);
    });
  }

  async fork(id: string, fork: SessionFork): Promise<SessionSummary | undefined> {
    const details = detailColumns(fork.details);
    return this.database.write((db) => {
      const now = this.clock.now();
      const from = liveSession(db, toSqlText(id), now);
      if (from === undefined) return undefined;
      const keep = fork.keep ?? from.length;
      checkKeep(keep, from.length);
      if (liveSession(db, toSqlText(fork.id), now) !== undefined) throw new SessionExistsError(fork.id);
      const merged = {
        owner: details.owner ?? from.owner,
        title: details.title ?? from.title,
        data: details.data ?? from.data,
      };
      const row = createSession(db, { id: toSqlText(fork.id), uid: crypto.randomUUID(), details: merged, now });
      db.change(
        'INSERT INTO messages SELECT ?, position, 1, body FROM messages WHERE session = ? AND position < ?',
        row.serial,
        from.serial,
        keep,
      );
      const text = 'UPDATE sessions SET revision = 1, length = ?, ends = ? WHERE serial = ?';
      db.change(text, keep, this.endAfter(now), row.serial);
      return summaryOf({ ...row, revision: 1, length: keep });
    });
  }

  /** Closes the file. A later call opens it again. */
  close(): void {
    this.database.close();
  }

  /** True if the end of a session must move. Sessions get 1 % more time than `ttlMs`, so that most loads need not write. */
  private isDue({ ends }: SessionRow, now: number): boolean {
    return Number.isFinite(this.ttlMs) ? ends === null || ends < now + this.ttlMs : ends !== null;
  }

  private async extend({ serial }: SessionRow, now: number): Promise<void> {
    await this.database.write((db) =>
      db.change('UPDATE sessions SET ends = ? WHERE serial = ?', this.endAfter(now), serial),
    );
  }

  private endAfter(now: number): number | null {
    return Number.isFinite(this.ttlMs) ? now + this.ttlMs + Math.floor(this.ttlMs / 100) : null;
  }

  private readMessage(session: string, at: number, body: string): Message {
    try {
      return messageFromJson(body);
    } catch (cause) {
      throw new SqliteDataError(
        this.database.file,
        `message ${at} of session "${session}" is not JSON. Repair the row, or delete the session.`,
        cause,
      );
    }
  }
}

/** Returns the number of stored messages that the caller knows. */
function keptMessages(db: SqliteSession, row: SessionRow, known: KnownSession | undefined): number {
  if (known === undefined || toSqlText(known.uid) !== row.uid || known.revision > row.revision) return 0;
  const text = 'SELECT position FROM messages WHERE session = ? AND revision <= ? ORDER BY position DESC LIMIT 1';
  const last = db.row<{ position: number }>(text, row.serial, known.revision);
  return last === undefined ? 0 : last.position + 1;
}
