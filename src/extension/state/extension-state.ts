import { TimeoutExceededError } from '../../errors.js';
import type { Logger } from '../../internal/logger.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { utf8Bytes } from '../../state/state-key.js';
import type {
  StateChange,
  StateEntry,
  StatePolicy,
  StateScope,
  StateStats,
  StateStore,
} from '../../state/state-store.js';
import {
  EXTENSION_STATE_EVICTIONS,
  EXTENSION_STATE_OPERATIONS,
  EXTENSION_STATE_SIZE_BYTES,
} from '../../telemetry/metric-names.js';
import { isStandardSchema, type StandardSchema } from '../../tools/standard-schema.js';
import { StateLimitError, StateStoreError } from '../error.js';
import type { ExtensionMetrics } from '../metrics.js';
import { decodeState, encodeState, type StateCodec } from './state-codec.js';
import { type StateSite, type StoreCall, StoreCalls, type StoreTimes } from './store-calls.js';

/** The state of a session has reached 80 % of `sessionBytes`. Sent again only after the size has fallen below 80 %. */
export interface StateAlert {
  readonly session: string;
  readonly bytes: number;
  readonly limitBytes: number;
}

/** The store for extension state, with its limits. */
export interface StateSettings extends StoreTimes {
  readonly store: StateStore;
  readonly policy: StatePolicy;
  readonly metrics: ExtensionMetrics;
  readonly onAlert: ((alert: StateAlert) => Awaitable<void>) | undefined;
}

type Decoder<T> = StandardSchema<unknown, T> | StateCodec<T>;

/** An atomic change of a value. */
export interface StateUpdate<T> {
  readonly key: string;
  readonly update: (value: T | undefined) => T;
  readonly as: Decoder<T> | undefined;
  /** Throws if the callback that started the update has ended. */
  readonly check: () => void;
}

const ALERT_AT = 0.8;
/** Other processes may change the value between the read and the write of an update. */
const UPDATE_ATTEMPTS = 100;

/**
 * The state of all extensions of a registry. Each operation keeps the limits and the timeout, or rejects with a typed
 * error.
 */
export class ExtensionState {
  private readonly calls: StoreCalls;
  /** Unfinished removals, by extension id. A new extension with the same id waits for the removal. */
  private readonly clearing = new Map<string, Promise<unknown>>();
  /** The last update of each value that is being updated. Updates of one process wait for one another. */
  private readonly updating = new Map<string, Promise<unknown>>();

  constructor(private readonly settings: StateSettings) {
    this.calls = new StoreCalls(settings);
  }

  /** True if values live as long as their session, so that a run must extend the lifetime of values that it does not use. */
  get outlivesUse(): boolean {
    const { ttlMs, sessionTtlMs } = this.settings.policy;
    return ttlMs >= sessionTtlMs;
  }

  async get<T>(
    scope: StateScope,
    { key, as }: { key: string; as: Decoder<T> | undefined },
    site: StateSite,
  ): Promise<T | undefined> {
    const text = await this.read(scope, key, site);
    this.count('get', scope);
    return text === undefined ? undefined : decodeState(key, text, as);
  }

  async set<T>(
    scope: StateScope,
    { key, value, codec }: { key: string; value: T; codec: StateCodec<T> | undefined },
    site: StateSite,
  ): Promise<void> {
    const text = encodeState(key, value, codec);
    await this.write(scope, { key, value: text }, site);
    this.count('set', scope);
  }

  /** Replaces a value by a function of it. Repeats the function if the value was changed in the meantime. */
  async update<T>(scope: StateScope, change: StateUpdate<T>, site: StateSite): Promise<T> {
    const id = JSON.stringify([scope.extension, scope.session, change.key]);
    const before = this.updating.get(id) ?? Promise.resolve();
    const update = before.then(() => this.attemptUpdate(scope, change, site));
    const last = update.then(ignore, ignore);
    this.updating.set(id, last);
    try {
      return await update;
    } finally {
      if (this.updating.get(id) === last) this.updating.delete(id);
    }
  }

  async clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<void> {
    const { store } = this.settings;
    const count = await this.call({ scope, operation: 'clear', act: () => store.clear(scope, key) }, site);
    this.count('clear', scope);
    const what = key === undefined ? 'its state' : `state "${key}"`;
    const details = { extensionId: scope.extension, session: scope.session, key, count };
    site.logger.info(`Extension "${scope.extension}" cleared ${what} in session "${scope.session}".`, details);
  }

  /** Removes all state of an extension after its unfinished writes. Resolves to the number of removed values. */
  async clearExtension(extension: string, site: StateSite): Promise<number> {
    const { store } = this.settings;
    const act = () => store.clearExtension(extension);
    const clearing = this.calls
      .settled((scope) => scope.extension === extension)
      .then(() => this.calls.run({ scope: ALL, operation: 'clearExtension', act }, site));
    this.clearing.set(extension, clearing);
    try {
      return await clearing;
    } finally {
      if (this.clearing.get(extension) === clearing) this.clearing.delete(extension);
    }
  }

  /** Removes the state of a session after its unfinished writes. Resolves to the number of removed values. */
  async clearSession(session: string, site: StateSite): Promise<number> {
    await this.calls.settled((scope) => scope.session === session);
    const act = () => this.settings.store.clearSession(session);
    return this.call({ scope: { ...ALL, session }, operation: 'clearSession', act }, site);
  }

  /** Restarts the session's time to live. */
  async touch(session: string, site: StateSite): Promise<void> {
    const { store, policy } = this.settings;
    const act = () => store.touch(session, policy);
    await this.call({ scope: { ...ALL, session }, operation: 'touch', act }, site);
  }

  async stats(session: string, site: StateSite): Promise<StateStats> {
    const act = () => this.settings.store.stats(session);
    return this.call({ scope: { ...ALL, session }, operation: 'stats', act }, site);
  }

  private async attemptUpdate<T>(
    scope: StateScope,
    { key, update, as, check }: StateUpdate<T>,
    site: StateSite,
  ): Promise<T> {
    const codec = as === undefined || isStandardSchema(as) ? undefined : (as as StateCodec<T>);
    for (let attempt = 0; attempt < UPDATE_ATTEMPTS; attempt += 1) {
      const text = await this.read(scope, key, site);
      check();
      const value = update(text === undefined ? undefined : await decodeState(key, text, as));
      const entry = { key, value: encodeState(key, value, codec), ifValue: text ?? null };
      if (!(await this.write(scope, entry, site))) continue;
      this.count('update', scope);
      return value;
    }
    const problem = new TimeoutExceededError(`update of state "${key}" in ${UPDATE_ATTEMPTS} attempts`, 0);
    throw new StateStoreError('update', problem);
  }

  private read(scope: StateScope, key: string, site: StateSite): Promise<string | undefined> {
    const { store, policy } = this.settings;
    return this.call({ scope, operation: 'get', act: () => store.get(scope, key, policy) }, site);
  }

  /** Returns false if the value is not `ifValue`. */
  private async write(scope: StateScope, entry: StateEntry, site: StateSite): Promise<boolean> {
    const { store, policy, metrics } = this.settings;
    const change = await this.call({ scope, operation: 'set', act: () => store.set(scope, entry, policy) }, site);
    if (change.conflict) return false;
    const bytes = utf8Bytes(entry.value);
    if (!change.stored) throw new StateLimitError(entry.key, bytes + utf8Bytes(entry.key), limitsIn(policy));
    metrics.measure(EXTENSION_STATE_SIZE_BYTES, bytes, { extension_id: scope.extension });
    this.reportEvictions(scope, change, site.logger);
    this.alertIfFull(scope.session, change, site.logger);
    return true;
  }

  /** Calls the store after an unfinished removal for the same extension id. */
  private call<T>(call: StoreCall<T>, site: StateSite): Promise<T> {
    const clearing = this.clearing.get(call.scope.extension);
    if (clearing === undefined) return this.calls.run(call, site);
    const later = clearing.then(ignore, ignore).then(() => this.calls.run(call, site));
    return this.calls.tracked(call.scope, later);
  }

  private count(operation: 'get' | 'set' | 'update' | 'clear', { extension }: StateScope): void {
    this.settings.metrics.count(EXTENSION_STATE_OPERATIONS, { operation, extension_id: extension });
  }

  private reportEvictions({ extension, session }: StateScope, { evicted }: StateChange, logger: Logger): void {
    for (const { key, bytes } of evicted) {
      this.settings.metrics.count(EXTENSION_STATE_EVICTIONS, { extension_id: extension });
      const details = { extensionId: extension, session, key, bytes };
      logger.warn(`State "${key}" of extension "${extension}" was evicted to make room for a newer value.`, details);
    }
  }

  /** Sends an alert if this write has raised the size to 80 % of the limit. Does not wait for the callback. */
  private alertIfFull(session: string, { bytesBefore, bytesAfter }: StateChange, logger: Logger): void {
    const { policy, onAlert } = this.settings;
    const limitBytes = policy.sessionBytes;
    if (bytesBefore >= limitBytes * ALERT_AT || bytesAfter < limitBytes * ALERT_AT) return;
    const alert: StateAlert = { session, bytes: bytesAfter, limitBytes };
    logger.warn(`The state of session "${session}" takes ${bytesAfter} of ${limitBytes} bytes.`, alert);
    const complain = (error: unknown) => logger.error('`onStateAlert` failed.', error);
    try {
      const returned = onAlert?.(alert);
      if (isPromise(returned)) returned.then(undefined, complain);
    } catch (error) {
      complain(error);
    }
  }
}

function limitsIn({ extensionBytes, sessionBytes }: StatePolicy): string {
  return `${extensionBytes} bytes for an extension in a session, ${sessionBytes} bytes for all extensions together`;
}

const ALL: StateScope = { extension: '', session: '' };

function ignore(): void {}
