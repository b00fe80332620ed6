import { TimeoutExceededError } from '../../errors.js';
import type { StateEntry, StateScope, StateStats } from '../../state/state-store.js';
import { isStandardSchema, type StandardSchema } from '../../tools/standard-schema.js';
import { StateStoreError } from '../error.js';
import { SessionCache } from './session-cache.js';
import { decodeState, encodeState, type StateCodec } from './state-codec.js';
import { type StateSettings, StoreAccess } from './store-access.js';
import type { StateSite, StateWrite } from './store-calls.js';

type Decoder<T> = StandardSchema<unknown, T> | StateCodec<T>;

/** An atomic change of a value. */
export interface StateUpdate<T> {
  readonly key: string;
  readonly update: (value: T | undefined) => T;
  readonly as: Decoder<T> | undefined;
  /** Throws if the callback that started the update has ended. */
  readonly check: () => void;
}

/** A run whose extensions use state. */
export interface StateRun {
  readonly session: string;
  /** The extensions that act in the run. */
  readonly extensions: readonly string[];
  /** True if the session exists only for this run. The store then has no state of the session before the run. */
  readonly isNew: boolean;
}

/** The largest number of attempts of one update, so that a store that reports a conflict each time ends it. */
const UPDATE_ATTEMPTS = 100;

/** The state of all extensions of a registry. A call that exceeds a limit or the timeout rejects. */
export class ExtensionState {
  private readonly access: StoreAccess;
  /** The state of the sessions in which a run uses state, if the store has batches. */
  private readonly caches = new Map<string, SessionCache>();
  /** The last unfinished update of each value, by key. The next update of the value waits for it. */
  private readonly updating = new Map<string, Promise<unknown>>();

  constructor(settings: StateSettings) {
    this.access = new StoreAccess(settings);
  }

  /** True if values live as long as their session, so that a run must extend the lifetime of values that it does not use. */
  get outlivesUse(): boolean {
    const { ttlMs, sessionTtlMs } = this.access.policy;
    return ttlMs >= sessionTtlMs;
  }

  /** Starts to batch the reads and writes of a run. Returns false if the store has no batches. */
  enter({ session, extensions, isNew }: StateRun): boolean {
    if (!this.access.isBatched) return false;
    const cache = this.caches.get(session) ?? new SessionCache(session, this.access, isNew);
    this.caches.set(session, cache);
    cache.enter(extensions);
    return true;
  }

  /** Ends an attempt of a durable run without sending its writes. The next attempt repeats them. */
  abandon(session: string): void {
    const cache = this.caches.get(session);
    if (cache === undefined) return;
    cache.runs -= 1;
    if (cache.runs === 0) this.caches.delete(session);
  }

  /** Ends a run that called `enter`. Sends the writes of the run to the store. */
  async leave(session: string, site: StateSite): Promise<void> {
    const cache = this.caches.get(session);
    if (cache === undefined) return;
    try {
      await cache.finish(site);
    } finally {
      cache.runs -= 1;
      if (cache.runs === 0) this.caches.delete(session);
    }
  }

  async get<T>(
    scope: StateScope,
    { key, as }: { key: string; as: Decoder<T> | undefined },
    site: StateSite,
  ): Promise<T | undefined> {
    const text = await this.placeOf(scope).get(scope, key, site);
    this.access.count('get', scope.extension);
    return text === undefined ? undefined : decodeState(key, text, as);
  }

  async set<T>(
    scope: StateScope,
    { key, value, codec }: { key: string; value: T; codec: StateCodec<T> | undefined },
    site: StateSite,
  ): Promise<void> {
    await this.write(scope, { key, value: encodeState(key, value, codec) }, site);
  }

  /** Repeats a write of an earlier attempt of a durable run. */
  async repeat(session: string, { extension, key, value }: StateWrite, site: StateSite): Promise<void> {
    const scope = { extension, session };
    if (key === undefined || value === undefined) await this.placeOf(scope).clear(scope, key, site);
    else await this.write(scope, { key, value }, site);
  }

  private async write(scope: StateScope, entry: StateEntry, site: StateSite): Promise<void> {
    await this.placeOf(scope).set(scope, entry, site);
    site.written?.push({ extension: scope.extension, key: entry.key, value: entry.value });
    this.access.count('set', scope.extension);
  }

  /**
   * Replaces a value by the return value of `update`, which gets the value. Calls `update` again if the value was
   * changed in the meantime.
   */
  async update<T>(scope: StateScope, change: StateUpdate<T>, site: StateSite): Promise<T> {
    const id = JSON.stringify([scope.extension, scope.session, change.key]);
    const before = this.updating.get(id) ?? Promise.resolve();
    const update = before.then(() => this.attemptUpdate(scope, change, site));
    const last = Promise.allSettled([update]);
    this.updating.set(id, last);
    try {
      return await update;
    } finally {
      if (this.updating.get(id) === last) this.updating.delete(id);
    }
  }

  async clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<void> {
    const { extension, session } = scope;
    const count = await this.placeOf(scope).clear(scope, key, site);
    site.written?.push({ extension, key });
    this.access.count('clear', extension);
    const what = key === undefined ? 'its state' : `state "${key}"`;
    const details = { extensionId: extension, session, key, count };
    site.logger.info(`Extension "${extension}" cleared ${what} in session "${session}".`, details);
  }

  /** Returns the cache of the session, or the store if the session has no cache. */
  private placeOf({ session }: StateScope): SessionCache | StoreAccess {
    return this.caches.get(session) ?? this.access;
  }

  /** Removes all state of an extension after its unfinished writes. Resolves to the number of removed values. */
  async clearExtension(extension: string, site: StateSite): Promise<number> {
    const dropped = [...this.caches.values()].map((cache) => cache.values.drop(extension));
    const cleared = await this.access.clearExtension(extension, site);
    return dropped.reduce((sum, count) => sum + count, cleared);
  }

  /** Removes the state of a session after its unfinished writes. Resolves to the number of removed values. */
  async clearSession(session: string, site: StateSite): Promise<number> {
    const dropped = this.caches.get(session)?.values.drop() ?? 0;
    return dropped + (await this.access.clearSession(session, site));
  }

  touch(session: string, site: StateSite): Promise<void> {
    return this.access.touch(session, site);
  }

  async stats(session: string, site: StateSite): Promise<StateStats> {
    await this.caches.get(session)?.flush(site);
    return this.access.stats(session, site);
  }

  private async attemptUpdate<T>(
    scope: StateScope,
    { key, update, as, check }: StateUpdate<T>,
    site: StateSite,
  ): Promise<T> {
    const codec = as === undefined || isStandardSchema(as) ? undefined : (as as StateCodec<T>);
    // Other processes may change the value between the read and the write.
    for (let attempt = 0; attempt < UPDATE_ATTEMPTS; attempt += 1) {
      const text = await this.placeOf(scope).get(scope, key, site);
      check();
      const value = update(text === undefined ? undefined : await decodeState(key, text, as));
      const entry = { key, value: encodeState(key, value, codec) };
      if (site.written !== undefined) await this.write(scope, entry, site);
      else if ((await this.placeOf(scope).set(scope, { ...entry, ifValue: text ?? null }, site)).conflict) continue;
      this.access.count('update', scope.extension);
      return value;
    }
    const problem = new TimeoutExceededError(
      `update of state "${key}" (${UPDATE_ATTEMPTS} attempts, each overtaken by another write)`,
      0,
    );
    throw new StateStoreError('update', problem);
  }
}
