import type { Clock } from '../../internal/clock.js';
import { checkStateKey, entryBytes, MAX_SCOPE_KEYS } from '../../state/state-key.js';
import { checkStatePolicy } from '../../state/state-policy.js';
import type {
  EvictedState,
  StateChange,
  StateEntry,
  StatePolicy,
  StateScope,
  StateStats,
  StateStore,
} from '../../state/state-store.js';
import { fromSqlText, toSqlText } from '../sql-text.js';
import { SqliteDatabase, type SqliteSession } from './database.js';
import { resolveSqliteOptions, type SqliteStoreOptions, storeRules } from './options.js';
import {
  account,
  countUse,
  purgedSession,
  sessionEnd,
  sweepStates,
  tidy,
  valueEnd,
  writableSession,
} from './state-rows.js';

/**
 * Stores the state of extensions in a SQLite file. Needs `node:sqlite` of Node 22.13 or newer, or an open database as
 * `client`. After a write has resolved, it survives if the process is killed. Any number of processes on one machine
 * may use the file at once.
 *
 * Throws a SqliteUnsupportedError for a `file` if the runtime has no `node:sqlite`. Rejects with a
 * SqliteUnavailableError if the file cannot be used within `timeoutMs`.
 *
 * @example
 * const state = new SqliteStateStore({ file: './state.db' });
 * const extensions = new ExtensionRegistry({ state });
 */
export class SqliteStateStore implements StateStore {
  private readonly database: SqliteDatabase;
  private readonly clock: Clock;

  constructor(options: SqliteStoreOptions) {
    const { place, timeoutMs, clock } = resolveSqliteOptions(options, storeRules);
    this.database = new SqliteDatabase(place, timeoutMs);
    this.clock = clock;
  }

  async get(scope: StateScope, key: string, policy: StatePolicy): Promise<string | undefined> {
    checkStateKey(key);
    checkStatePolicy(policy);
    return this.database.write((db) => {
      const now = this.clock.now();
      const session = purgedSession(db, toSqlText(scope.session), now);
      if (session === undefined) return undefined;
      const found = db.row<{ value: string }>(
        'UPDATE state_values SET used = ?, ends = ? WHERE session = ? AND extension = ? AND key = ? RETURNING value',
        session.uses,
        valueEnd(policy, now),
        session.serial,
        toSqlText(scope.extension),
        toSqlText(key),
      );
      if (found === undefined) return undefined;
      countUse(db, session.serial, sessionEnd(policy, now));
      return fromSqlText(found.value);
    });
  }

  async set({ session, extension }: StateScope, entry: StateEntry, policy: StatePolicy): Promise<StateChange> {
    checkStateKey(entry.key);
    checkStatePolicy(policy);
    return this.database.write((db) => {
      const now = this.clock.now();
      const change = setValue(db, { session, extension: toSqlText(extension), entry, policy, now });
      sweepStates(db, now);
      return change;
    });
  }

  async clear({ session, extension }: StateScope, key?: string): Promise<number> {
    if (key !== undefined) checkStateKey(key);
    return this.database.write((db) => this.clearIn(db, toSqlText(session), { extension, key }));
  }

  async clearExtension(extension: string): Promise<number> {
    const text = 'SELECT id FROM state_sessions JOIN state_scopes ON session = serial WHERE extension = ?';
    const sessions = await this.database.read((db) => db.rows<{ id: string }>(text, toSqlText(extension)));
    let count = 0;
    for (const { id } of sessions) count += await this.database.write((db) => this.clearIn(db, id, { extension }));
    return count;
  }

  async clearSession(session: string): Promise<number> {
    return this.database.write((db) => {
      const row = purgedSession(db, toSqlText(session), this.clock.now());
      if (row === undefined) return 0;
      const found = db.row<{ count: number }>(
        'SELECT count(*) AS count FROM state_values WHERE session = ?',
        row.serial,
      );
      db.change('DELETE FROM state_sessions WHERE serial = ?', row.serial);
      return found?.count ?? 0;
    });
  }

  async touch(session: string, policy: StatePolicy): Promise<void> {
    checkStatePolicy(policy);
    await this.database.write((db) => {
      const now = this.clock.now();
      const row = purgedSession(db, toSqlText(session), now);
      if (row !== undefined) countUse(db, row.serial, sessionEnd(policy, now));
    });
  }

  async stats(session: string): Promise<StateStats> {
    const now = this.clock.now();
    const rows = await this.database.read((db) =>
      db.rows<{ extension: string; bytes: number }>(
        `SELECT extension, sum(state_values.bytes) AS bytes
         FROM state_sessions JOIN state_values ON session = serial
         WHERE id = ? AND state_sessions.ends > ? AND (state_values.ends IS NULL OR state_values.ends > ?)
         GROUP BY extension`,
        toSqlText(session),
        now,
        now,
      ),
    );
    const extensions = rows.map(({ extension, bytes }) => [fromSqlText(extension), bytes] as const);
    return {
      bytes: extensions.reduce((sum, [, bytes]) => sum + bytes, 0),
      extensions: Object.fromEntries(extensions),
    };
  }

  /** Closes the database file. A later call opens it again. A database that was passed as `client` stays open. */
  close(): void {
    this.database.close();
  }

  private clearIn(db: SqliteSession, session: string, { extension, key }: ClearedScope): number {
    const row = purgedSession(db, session, this.clock.now());
    if (row === undefined) return 0;
    const only = key === undefined ? null : toSqlText(key);
    const removed = db.rows<{ bytes: number }>(
      'DELETE FROM state_values WHERE session = ? AND extension = ? AND (? IS NULL OR key = ?) RETURNING bytes',
      row.serial,
      toSqlText(extension),
      only,
      only,
    );
    if (removed.length === 0) return 0;
    const bytes = removed.reduce((sum, value) => sum + value.bytes, 0);
    account(db, row.serial, { extension: toSqlText(extension), bytes: -bytes, keys: -removed.length });
    tidy(db, row.serial);
    return removed.length;
  }
}

interface ClearedScope {
  readonly extension: string;
  readonly key?: string | undefined;
}

/** A write of one value. `extension` is already encoded with `toSqlText`. */
interface Write {
  readonly session: string;
  readonly extension: string;
  readonly entry: StateEntry;
  readonly policy: StatePolicy;
  readonly now: number;
}

interface ValueRow {
  readonly key: string;
  readonly value: string;
  readonly bytes: number;
}

const IN_SCOPE = 'WHERE session = ? AND extension = ?';

function setValue(db: SqliteSession, { session, extension, entry, policy, now }: Write): StateChange {
  const key = toSqlText(entry.key);
  const head = writableSession(db, toSqlText(session), now);
  const scope = db.row<{ bytes: number; keys: number }>(
    `SELECT * FROM state_scopes ${IN_SCOPE}`,
    head.serial,
    extension,
  );
  const old = db.row<ValueRow>(`SELECT * FROM state_values ${IN_SCOPE} AND key = ?`, head.serial, extension, key);
  const ofScope = scope?.bytes ?? 0;
  const bytes = entryBytes(entry.key, entry.value);
  const limit = Math.min(policy.extensionBytes, policy.sessionBytes - head.bytes + ofScope);
  const refused = { stored: false, evicted: [], bytesBefore: head.bytes, bytesAfter: head.bytes };
  const isConflict =
    entry.ifValue !== undefined && (old === undefined ? null : fromSqlText(old.value)) !== entry.ifValue;
  if (isConflict || bytes > limit) {
    tidy(db, head.serial);
    return isConflict ? { ...refused, conflict: true } : refused;
  }
  const room = {
    bytes: limit - bytes - ofScope + (old?.bytes ?? 0),
    keys: MAX_SCOPE_KEYS - (scope?.keys ?? 0) - (old === undefined ? 1 : 0),
  };
  const evicted = evict(db, { session: head.serial, extension, key }, room);
  db.change(
    `INSERT INTO state_values VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, extension, key)
     DO UPDATE SET value = excluded.value, bytes = excluded.bytes, used = excluded.used, ends = excluded.ends`,
    head.serial,
    extension,
    key,
    toSqlText(entry.value),
    bytes,
    head.uses,
    valueEnd(policy, now),
  );
  const added = evicted.reduce((sum, value) => sum - value.bytes, bytes - (old?.bytes ?? 0));
  account(db, head.serial, { extension, bytes: added, keys: (old === undefined ? 1 : 0) - evicted.length });
  countUse(db, head.serial, sessionEnd(policy, now));
  return { stored: true, evicted, bytesBefore: head.bytes, bytesAfter: head.bytes + added };
}

/**
 * Deletes the least recently used values of an extension, except the one under `key`, until the new value fits into all
 * limits.
 */
function evict(
  db: SqliteSession,
  { session, extension, key }: { readonly session: number; readonly extension: string; readonly key: string },
  room: { bytes: number; keys: number },
): EvictedState[] {
  const evicted: EvictedState[] = [];
  while (room.bytes < 0 || room.keys < 0) {
    const text = `SELECT key, bytes FROM state_values ${IN_SCOPE} AND key <> ? ORDER BY used LIMIT 1`;
    const oldest = db.row<ValueRow>(text, session, extension, key);
    if (oldest === undefined) break;
    db.change(`DELETE FROM state_values ${IN_SCOPE} AND key = ?`, session, extension, oldest.key);
    room.bytes += oldest.bytes;
    room.keys += 1;
    evicted.push({ key: fromSqlText(oldest.key), bytes: oldest.bytes });
  }
  return evicted;
}
