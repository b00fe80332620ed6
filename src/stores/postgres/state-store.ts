import { mapConcurrent } from '../../internal/map-concurrent.js';
import { checkStateKey, entryBytes } from '../../state/state-key.js';
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
import { limitsOf, timesOf, toWhole } from '../policy-arguments.js';
import { fromSqlText, toSqlKey, toSqlText } from '../sql-text.js';
import { PostgresConnection } from './connection.js';
import { type PostgresStoreOptions, resolveStoreOptions, storeRules } from './options.js';

/**
 * Stores the state of extensions in PostgreSQL, shared by all processes. Each call is one transaction in one
 * statement, and uses the clock of the server. Writes remove expired data. Call `migrate` first.
 *
 * Rejects with a PostgresUnavailableError if the server does not answer within `timeoutMs`, or refuses the statement.
 *
 * @example
 * const state = new PostgresStateStore({ client: pool });
 * const extensions = new ExtensionRegistry({ state });
 */
export class PostgresStateStore implements StateStore {
  private readonly connection: PostgresConnection;

  constructor(options: PostgresStoreOptions) {
    this.connection = new PostgresConnection(resolveStoreOptions(options, storeRules));
  }

  async get({ session, extension }: StateScope, key: string, policy: StatePolicy): Promise<string | undefined> {
    checkStateKey(key);
    checkStatePolicy(policy);
    const keys = [session, extension, key].map(toSqlKey);
    const [value] = await this.connection.call('state_get', [...keys, ...timesOf(policy)]);
    return value === undefined ? undefined : fromSqlText(value);
  }

  async set({ session, extension }: StateScope, entry: StateEntry, policy: StatePolicy): Promise<StateChange> {
    const { key, value } = entry;
    checkStateKey(key);
    checkStatePolicy(policy);
    const [status, before, after, ...evicted] = await this.connection.call('state_set', [
      toSqlKey(session),
      toSqlKey(extension),
      toSqlText(extension),
      toSqlKey(key),
      toSqlText(key),
      toSqlText(value),
      `${entryBytes(key, value)}`,
      ...limitsOf(policy),
      ...timesOf(policy),
      ...conditionOf(entry),
    ]);
    return {
      stored: status === 'stored',
      ...(status === 'conflict' && { conflict: true }),
      evicted: evictedOf(evicted),
      bytesBefore: Number(before),
      bytesAfter: Number(after),
    };
  }

  async clear({ session, extension }: StateScope, key?: string): Promise<number> {
    if (key !== undefined) checkStateKey(key);
    return this.clearScope(toSqlKey(session), [toSqlKey(extension), key === undefined ? null : toSqlKey(key)]);
  }

  async clearExtension(extension: string): Promise<number> {
    const sessions = await this.connection.call('state_extension_sessions', [toSqlKey(extension)]);
    const counts = await mapConcurrent(sessions, (session) => this.clearScope(session, [toSqlKey(extension), null]));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async clearSession(session: string): Promise<number> {
    const [count] = await this.connection.call('state_clear_session', [toSqlKey(session)]);
    return Number(count);
  }

  async touch(session: string, policy: StatePolicy): Promise<void> {
    checkStatePolicy(policy);
    await this.connection.call('state_touch', [toSqlKey(session), toWhole(policy.sessionTtlMs)]);
  }

  async stats(session: string): Promise<StateStats> {
    const replies = await this.connection.call('state_stats', [toSqlKey(session)]);
    const extensions = replies.map((reply) => JSON.parse(reply) as [string, number]);
    return {
      bytes: extensions.reduce((sum, [, bytes]) => sum + bytes, 0),
      extensions: Object.fromEntries(extensions.map(([name, bytes]) => [fromSqlText(name), bytes])),
    };
  }

  private async clearScope(session: string, scope: readonly (string | null)[]): Promise<number> {
    const [count] = await this.connection.call('state_clear', [session, ...scope]);
    return Number(count);
  }
}

function conditionOf({ ifValue }: StateEntry): (string | null)[] {
  if (ifValue === undefined) return [null, null];
  return ifValue === null ? ['absent', null] : ['equal', toSqlText(ifValue)];
}

/** Decodes a list in which the keys and the sizes of evicted values alternate. */
function evictedOf(replies: readonly string[]): EvictedState[] {
  return replies.flatMap((name, at) =>
    at % 2 === 0 ? [{ key: fromSqlText(name), bytes: Number(replies[at + 1]) }] : [],
  );
}
