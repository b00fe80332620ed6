import type { Entry } from '../../state/record/entry.js';
import type { SessionClaim } from '../../state/session-store.js';
import { type HeldClaim, KEPT_LIFETIMES, StoredLog } from '../../state/stored-log.js';
import { type DetailColumns, encodeEntries, type SummaryColumns } from '../sql-session.js';
import { fromSqlText, textOrNull, toSqlText } from '../sql-text.js';
import type { SqliteSession } from './database.js';

/** A row of the table `sessions`. */
export interface SessionRow extends SummaryColumns {
  readonly serial: number;
  readonly uid: string;
  readonly ends: number | null;
  readonly context: number;
  readonly waits: string | null;
  /**
   * The token of the run that holds the claim. Null if no run holds it. The other columns of the claim then have no
   * meaning.
   */
  readonly claim_token: string | null;
  readonly claim_run: string;
  readonly claim_by: string | null;
  readonly claim_until: number;
  /** Time from which another run may take over the claim even if the process of the claim is alive. */
  readonly claim_last: number;
  readonly claim_waits_for: string | null;
  /** Identifies the process that holds the claim. */
  readonly claim_process: string;
}

/**
 * The time of a call. `ends` is the time at which a session used by this call expires. It is null if sessions never
 * expire.
 */
export interface Moment {
  readonly now: number;
  readonly ends: number | null;
}

/** Returns the row of a session, or undefined if it is not stored or has expired. */
export function liveSession(db: SqliteSession, id: string, now: number): SessionRow | undefined {
  const row = db.row<SessionRow>('SELECT * FROM sessions WHERE id = ?', toSqlText(id));
  return row !== undefined && row.ends !== null && row.ends <= now ? undefined : row;
}

/**
 * Inserts a session without entries. Deletes an expired session with this id and two other expired sessions, so that
 * they do not accumulate.
 */
export function createSession(db: SqliteSession, id: string, now: number): SessionRow {
  db.change('DELETE FROM sessions WHERE id = ?', toSqlText(id));
  db.change(
    'DELETE FROM sessions WHERE serial IN (SELECT serial FROM sessions WHERE ends <= ? ORDER BY ends LIMIT 2)',
    now,
  );
  const text = 'INSERT INTO sessions (id, uid, created, updated) VALUES (?, ?, ?, ?) RETURNING *';
  return db.row<SessionRow>(text, toSqlText(id), crypto.randomUUID(), now, now) as SessionRow;
}

/** Sets the details that are not null. Returns the changed row. */
export function updateDetails(
  db: SqliteSession,
  { serial }: SessionRow,
  { owner, title, data }: DetailColumns,
): SessionRow {
  const text = `UPDATE sessions SET owner = coalesce(?, owner), title = coalesce(?, title), data = coalesce(?, data)
    WHERE serial = ? RETURNING *`;
  return db.row<SessionRow>(text, owner, title, data, serial) as SessionRow;
}

/** Loads a session from its row, without its entries. */
export function logOf(db: SqliteSession, row: SessionRow): StoredLog {
  const log = new StoredLog();
  log.uid = fromSqlText(row.uid);
  log.createdAt = row.created;
  log.updatedAt = row.updated;
  log.context = row.context;
  log.waits = row.waits === null ? null : fromSqlText(row.waits);
  log.start = row.length;
  log.held = heldIn(row);
  const text = 'SELECT 1 FROM entries WHERE session = ? AND id = ?';
  log.isOlder = (id) => db.row(text, row.serial, toSqlText(id)) !== undefined;
  return log;
}

function heldIn(row: SessionRow): HeldClaim | undefined {
  if (row.claim_token === null) return undefined;
  return {
    token: fromSqlText(row.claim_token),
    run: fromSqlText(row.claim_run),
    until: row.claim_until,
    ...(row.claim_by !== null && { by: fromSqlText(row.claim_by) }),
    ...(row.claim_waits_for !== null && { waitsFor: fromSqlText(row.claim_waits_for) }),
  };
}

/** Returns the JSON of the entries from position `offset` to before position `before`. */
export function bodiesIn(
  db: SqliteSession,
  { serial, length }: SessionRow,
  { offset, before = length }: { readonly offset: number; readonly before?: number | undefined },
): string[] {
  const text = 'SELECT body FROM entries WHERE session = ? AND position >= ? AND position < ? ORDER BY position';
  return db.rows<{ readonly body: string }>(text, serial, offset, before).map(({ body }) => body);
}

/**
 * Stores the entries that were added to a session, and its other changed fields. Restarts the lifetime of the session.
 */
export function saveRecord(
  db: SqliteSession,
  row: SessionRow,
  { log, added, ends }: Pick<Moment, 'ends'> & { readonly log: StoredLog; readonly added: readonly Entry[] },
): void {
  for (const [at, body] of encodeEntries(added).entries()) {
    const id = toSqlText((added[at] as Entry).id);
    db.change('INSERT INTO entries VALUES (?, ?, ?, ?)', row.serial, row.length + at, id, body);
  }
  db.change(
    `UPDATE sessions SET length = ?, created = ?, updated = ?, context = ?, waits = ?, ends = ?, claim_token = ?
     WHERE serial = ?`,
    log.length,
    log.createdAt,
    log.updatedAt,
    log.context,
    textOrNull(log.waits),
    ends,
    textOrNull(log.held?.token),
    row.serial,
  );
}

/** Stores a new or renewed claim. Restarts the lifetime of the claim and of the session. */
export function saveClaim(
  db: SqliteSession,
  { serial }: SessionRow,
  { log, now, ends, ttlMs, process }: NewClaim,
): void {
  const { token, run, by, until, waitsFor } = log.held as HeldClaim;
  db.change(
    `UPDATE sessions SET claim_token = ?, claim_run = ?, claim_by = ?, claim_until = ?, claim_last = ?,
     claim_waits_for = ?, claim_process = ?, ends = ? WHERE serial = ?`,
    toSqlText(token),
    toSqlText(run),
    textOrNull(by),
    until,
    now + KEPT_LIFETIMES * ttlMs,
    textOrNull(waitsFor),
    process,
    ends,
    serial,
  );
}

/** A session whose claim is new or renewed, and the process that holds the claim. */
interface NewClaim extends Moment, Pick<SessionClaim, 'ttlMs'> {
  readonly log: StoredLog;
  readonly process: string;
}
