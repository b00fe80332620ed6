import { checkKeep, type SessionChange } from '../../state/session-store.js';
import type { DetailColumns, SummaryColumns } from '../sql-session.js';
import { toSqlText } from '../sql-text.js';
import type { SqliteSession } from './database.js';

/** A row of the table of sessions. */
export interface SessionRow extends SummaryColumns {
  readonly serial: number;
  readonly uid: string;
  readonly ends: number | null;
  readonly attempt: number;
  readonly claim: string | null;
  readonly claimed_until: number | null;
}

/** Returns a session, unless it has expired. */
export function liveSession(db: SqliteSession, id: string, now: number): SessionRow | undefined {
  const row = db.row<SessionRow>('SELECT * FROM sessions WHERE id = ?', id);
  return row !== undefined && row.ends !== null && row.ends <= now ? undefined : row;
}

/** Returns true if the writer may make this change. Throws an OptionInvalidError if `keep` is invalid. */
export function accepts(
  row: SessionRow | undefined,
  { keep, uid, claim }: SessionChange,
  { expected, now }: { readonly expected: number; readonly now: number },
): boolean {
  if ((row?.revision ?? 0) !== expected) return false;
  if (row !== undefined && uid !== undefined && toSqlText(uid) !== row.uid) return false;
  const isClaimed = row !== undefined && row.claim !== null && (row.claimed_until ?? 0) > now;
  const isMine = (row?.claim ?? null) === (claim === undefined ? null : toSqlText(claim));
  if (!isMine && (claim !== undefined || isClaimed)) return false;
  checkKeep(keep, row?.length ?? 0);
  return true;
}

/** A session to insert. */
export interface NewSession {
  readonly id: string;
  readonly uid: string;
  readonly details: DetailColumns;
  readonly now: number;
}

/** Inserts a session without messages. Replaces an expired one. */
export function createSession(db: SqliteSession, { id, uid, details, now }: NewSession): SessionRow {
  db.change('DELETE FROM sessions WHERE id = ?', id);
  const { owner, title, data } = details;
  const row = db.row<SessionRow>(
    `INSERT INTO sessions (id, uid, revision, owner, title, data, created, updated)
     VALUES (?, ?, 0, ?, ?, ?, ?, ?) RETURNING *`,
    id,
    toSqlText(uid),
    owner,
    title,
    data,
    now,
    now,
  );
  return row as SessionRow;
}

/** Removes the messages after the first `keep`, and appends the others as the next revision. */
export function appendMessages(
  db: SqliteSession,
  { serial, revision, length }: SessionRow,
  { keep, bodies }: { readonly keep: number; readonly bodies: readonly string[] },
): void {
  if (keep < length) db.change('DELETE FROM messages WHERE session = ? AND position >= ?', serial, keep);
  for (const [at, body] of bodies.entries()) {
    db.change('INSERT INTO messages VALUES (?, ?, ?, ?)', serial, keep + at, revision + 1, body);
  }
}

/** Deletes two expired sessions. One save adds fewer, so that expired sessions do not accumulate. */
export function sweepSessions(db: SqliteSession, now: number): void {
  db.change(
    'DELETE FROM sessions WHERE serial IN (SELECT serial FROM sessions WHERE ends <= ? ORDER BY ends LIMIT 2)',
    now,
  );
}
