import type { Entry } from '../../state/record/entry.js';
import type { RecordQuery, SessionAppend, StoredRecord } from '../../state/session-store.js';
import { type DetailColumns, encodeEntries, type SummaryColumns } from '../sql-session.js';
import { fromSqlText, toSqlText } from '../sql-text.js';
import type { SqliteSession } from './database.js';
import { type ClaimColumns, holderOf, type Moment } from './session-claim.js';

/** A row of the table of sessions. */
export interface SessionRow extends SummaryColumns, ClaimColumns {
  readonly serial: number;
  readonly uid: string;
  readonly ends: number | null;
  readonly context: number;
  readonly waits: string | null;
}

/** A row of the table of entries. */
export interface EntryRow {
  readonly id: string;
  /** JSON. */
  readonly body: string;
}

/** A record whose entries are not decoded. */
export type RecordRows = Omit<StoredRecord, 'entries'> & { readonly bodies: readonly string[] };

/** Returns a session, unless it has expired. */
export function liveSession(db: SqliteSession, id: string, now: number): SessionRow | undefined {
  const row = db.row<SessionRow>('SELECT * FROM sessions WHERE id = ?', id);
  return row !== undefined && row.ends !== null && row.ends <= now ? undefined : row;
}

/** Inserts a session without entries. Replaces an expired one, and deletes two other expired ones. */
export function createSession(db: SqliteSession, id: string, { now }: Moment): SessionRow {
  db.change('DELETE FROM sessions WHERE id = ?', id);
  db.change(
    'DELETE FROM sessions WHERE serial IN (SELECT serial FROM sessions WHERE ends <= ? ORDER BY ends LIMIT 2)',
    now,
  );
  const text = 'INSERT INTO sessions (id, uid, created, updated) VALUES (?, ?, ?, ?) RETURNING *';
  return db.row<SessionRow>(text, id, crypto.randomUUID(), now, now) as SessionRow;
}

/** Sets the details that are not null. Returns the changed session. */
export function updateDetails(
  db: SqliteSession,
  { serial }: SessionRow,
  { owner, title, data }: DetailColumns,
): SessionRow {
  const text = `UPDATE sessions SET owner = coalesce(?, owner), title = coalesce(?, title), data = coalesce(?, data)
    WHERE serial = ? RETURNING *`;
  return db.row<SessionRow>(text, owner, title, data, serial) as SessionRow;
}

/** Returns the selected entries. */
export function selectRecord(
  db: SqliteSession,
  row: SessionRow,
  { known, from, before = row.length, limit = Number.POSITIVE_INFINITY }: RecordQuery,
): RecordRows {
  const uid = fromSqlText(row.uid);
  const isKnown = known?.uid === uid && known.length <= row.length;
  const first = from === 'context' ? row.context : 0;
  const offset = Math.max(isKnown ? known.length : first, before - limit);
  const holder = holderOf(row);
  const bodies = bodiesIn(db, row, { offset, before });
  return { uid, length: row.length, offset, bodies, ...(holder && { holder }) };
}

/** Returns the JSON of the entries at the positions from `offset` on, before `before`. */
export function bodiesIn(
  db: SqliteSession,
  { serial, length }: SessionRow,
  { offset, before = length }: { readonly offset: number; readonly before?: number },
): string[] {
  const text = 'SELECT body FROM entries WHERE session = ? AND position >= ? AND position < ? ORDER BY position';
  return db.rows<Pick<EntryRow, 'body'>>(text, serial, offset, before).map(({ body }) => body);
}

/** Encodes entries. Throws a MessageInvalidError if JSON cannot represent one. */
export function entryRows(entries: readonly Entry[]): EntryRow[] {
  const bodies = encodeEntries(entries);
  return entries.map(({ id }, at) => ({ id: toSqlText(id), body: bodies[at] as string }));
}

/** True if all entries are stored. */
export function hasEntries(db: SqliteSession, { serial }: SessionRow, rows: readonly EntryRow[]): boolean {
  const text = 'SELECT 1 FROM entries WHERE session = ? AND id = ?';
  return rows.every(({ id }) => db.row(text, serial, id) !== undefined);
}

/** Adds the entries that are not stored, and restarts the lifetime. Returns the changed session. */
export function addEntries(
  db: SqliteSession,
  row: SessionRow,
  { rows, now, ends }: Moment & { readonly rows: readonly EntryRow[] },
): SessionRow {
  let { length } = row;
  for (const { id, body } of rows) {
    const text = 'INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT (session, id) DO NOTHING';
    length += db.change(text, row.serial, length, id, body);
  }
  const updated = length > row.length ? now : row.updated;
  const created = row.length === 0 ? updated : row.created;
  const text = 'UPDATE sessions SET length = ?, created = ?, updated = ?, ends = ? WHERE serial = ?';
  db.change(text, length, created, updated, ends, row.serial);
  return { ...row, length, created, updated, ends };
}

/** Sets what an append says about the session, and ends the claim if `released` is true. */
export function settle(
  db: SqliteSession,
  row: SessionRow,
  { context = row.context, waits, released }: Pick<SessionAppend, 'context' | 'waits'> & { readonly released: boolean },
): void {
  const given = typeof waits === 'string' ? toSqlText(waits) : waits;
  db.change(
    'UPDATE sessions SET context = ?, waits = ?, claim_token = ? WHERE serial = ?',
    context,
    given === undefined ? row.waits : given,
    released ? null : row.claim_token,
    row.serial,
  );
}
