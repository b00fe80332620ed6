import type { SessionClaim, SessionHolder } from '../../state/session-store.js';
import { fromSqlText, toSqlText } from '../sql-text.js';
import type { SqliteSession } from './database.js';

/** The claim of a session as columns. It is held if it has a token. */
export interface ClaimColumns {
  readonly claim_token: string | null;
  readonly claim_run: string;
  readonly claim_by: string | null;
  readonly claim_until: number;
  /** The time at which the claim may be taken over although its process lives. */
  readonly claim_last: number;
  readonly claim_waits_for: string | null;
  /** Identifies the process that holds the claim. */
  readonly claim_process: string;
}

/** The time of a call, and the end of the lifetime that it restarts. Null means never. */
export interface Moment {
  readonly now: number;
  readonly ends: number | null;
}

/** How long a claim holds from now on, and for which process. */
export interface ClaimTime extends Moment, Pick<SessionClaim, 'ttlMs'>, Pick<SessionHolder, 'waitsFor'> {
  readonly process: string;
}

/** While its process lives, a claim that is not renewed holds for this many times its time. */
const PATIENCE = 10;

/** Returns the run that holds the claim. */
export function holderOf(row: ClaimColumns): SessionHolder | undefined {
  if (row.claim_token === null) return undefined;
  return {
    run: fromSqlText(row.claim_run),
    until: row.claim_until,
    ...(row.claim_by !== null && { by: fromSqlText(row.claim_by) }),
    ...(row.claim_waits_for !== null && { waitsFor: fromSqlText(row.claim_waits_for) }),
  };
}

/** True if another token holds the claim. Its time may have passed. */
export function isHeldByOther({ claim_token: held }: ClaimColumns, token: string): boolean {
  return held !== null && held !== toSqlText(token);
}

/** Gives the claim to a run. `extendClaim` sets its time. */
export function takeClaim(
  db: SqliteSession,
  serial: number,
  { token, run, by }: Pick<SessionClaim, 'token' | 'run' | 'by'>,
): void {
  db.change(
    'UPDATE sessions SET claim_token = ?, claim_run = ?, claim_by = ? WHERE serial = ?',
    toSqlText(token),
    toSqlText(run),
    by === undefined ? null : toSqlText(by),
    serial,
  );
}

/** Restarts the time of the claim, and the lifetime of the session. */
export function extendClaim<Row>(
  db: SqliteSession,
  serial: number,
  { ttlMs, waitsFor, process, now, ends }: ClaimTime,
): Row {
  const row = db.row<Row>(
    `UPDATE sessions SET claim_until = ?, claim_last = ?, claim_waits_for = ?, claim_process = ?, ends = ?
     WHERE serial = ? RETURNING *`,
    now + ttlMs,
    now + PATIENCE * ttlMs,
    waitsFor === undefined ? null : toSqlText(waitsFor),
    process,
    ends,
    serial,
  );
  return row as Row;
}
