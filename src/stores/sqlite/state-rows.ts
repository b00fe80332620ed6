import type { StatePolicy } from '../../state/state-store.js';
import type { SqliteSession } from './database.js';

/** A row of the table `state_sessions`, for a session with state. */
export interface StateSessionRow {
  readonly serial: number;
  readonly bytes: number;
  readonly uses: number;
  readonly ends: number;
}

/** The bytes and keys that are added to the state of an extension. Negative if they are removed. */
export interface ScopeChange {
  readonly extension: string;
  readonly bytes: number;
  readonly keys: number;
}

/**
 * Deletes the expired values of a session and returns its row. Deletes an expired session. Returns undefined if the
 * session does not exist or was deleted.
 */
export function purgedSession(db: SqliteSession, id: string, now: number): StateSessionRow | undefined {
  const row = db.row<StateSessionRow>('SELECT * FROM state_sessions WHERE id = ?', id);
  if (row === undefined) return undefined;
  if (row.ends <= now) {
    db.change('DELETE FROM state_sessions WHERE serial = ?', row.serial);
    return undefined;
  }
  const expired = db.rows<ScopeChange>(
    `SELECT extension, sum(bytes) AS bytes, count(*) AS keys FROM state_values
     WHERE session = ? AND ends <= ? GROUP BY extension`,
    row.serial,
    now,
  );
  if (expired.length === 0) return row;
  db.change('DELETE FROM state_values WHERE session = ? AND ends <= ?', row.serial, now);
  for (const { extension, bytes, keys } of expired) account(db, row.serial, { extension, bytes: -bytes, keys: -keys });
  tidy(db, row.serial);
  return db.row<StateSessionRow>('SELECT * FROM state_sessions WHERE serial = ?', row.serial);
}

/** Returns the row of a session. Creates it if it does not exist. */
export function writableSession(db: SqliteSession, id: string, now: number): StateSessionRow {
  const found = purgedSession(db, id, now);
  if (found !== undefined) return found;
  const row = db.row<StateSessionRow>('INSERT INTO state_sessions (id, ends) VALUES (?, ?) RETURNING *', id, now + 1);
  return row as StateSessionRow;
}

/** Updates the stored size of an extension and of its session. */
export function account(db: SqliteSession, session: number, { extension, bytes, keys }: ScopeChange): void {
  db.change('UPDATE state_sessions SET bytes = bytes + ? WHERE serial = ?', bytes, session);
  db.change(
    `INSERT INTO state_scopes VALUES (?, ?, ?, ?) ON CONFLICT (session, extension)
     DO UPDATE SET bytes = bytes + excluded.bytes, keys = keys + excluded.keys`,
    session,
    extension,
    bytes,
    keys,
  );
  if (keys < 0)
    db.change('DELETE FROM state_scopes WHERE session = ? AND extension = ? AND keys <= 0', session, extension);
}

/** Deletes the row of a session that has no values. */
export function tidy(db: SqliteSession, session: number): void {
  db.change(
    'DELETE FROM state_sessions WHERE serial = ? AND NOT EXISTS (SELECT 1 FROM state_scopes WHERE session = ?)',
    session,
    session,
  );
}

/** Increases the counter that orders values by their last use, and restarts the lifetime of the session. */
export function countUse(db: SqliteSession, session: number, end: number): void {
  db.change('UPDATE state_sessions SET uses = uses + 1, ends = ? WHERE serial = ?', end, session);
}

/** Deletes two expired sessions. One write adds at most one session, so expired sessions do not accumulate. */
export function sweepStates(db: SqliteSession, now: number): void {
  db.change(
    'DELETE FROM state_sessions WHERE serial IN (SELECT serial FROM state_sessions WHERE ends <= ? ORDER BY ends LIMIT 2)',
    now,
  );
}

/** Returns the time at which a session expires if its last use is now. */
export function sessionEnd({ sessionTtlMs }: StatePolicy, now: number): number {
  return Math.min(now + Math.floor(sessionTtlMs), Number.MAX_SAFE_INTEGER);
}

/** Returns the time at which a value expires if its last use is now. Null if the value expires with its session. */
export function valueEnd({ ttlMs, sessionTtlMs }: StatePolicy, now: number): number | null {
  return ttlMs >= sessionTtlMs ? null : Math.min(now + Math.floor(ttlMs), Number.MAX_SAFE_INTEGER);
}
