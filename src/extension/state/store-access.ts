import { describeError } from '../../errors.js';
import type { Logger } from '../../internal/logger.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { utf8Bytes } from '../../state/state-key.js';
import type {
  StateBatch,
  StateChange,
  StateEntry,
  StatePolicy,
  StateScope,
  StateStats,
  StateStore,
  StateView,
} from '../../state/state-store.js';
import {
  EXTENSION_STATE_EVICTIONS,
  EXTENSION_STATE_OPERATIONS,
  EXTENSION_STATE_SIZE_BYTES,
} from '../../telemetry/metrics.js';
import { StateLimitError } from '../error.js';
import type { ExtensionMetrics } from '../metrics.js';
import { type StateSite, StoreCalls, type StoreTimes } from './store-calls.js';

/** A session has reached 80 % of `sessionBytes`. Sent again only after its size was below 80 %. */
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

/** A value and the result of its write. */
export interface StateWrite {
  readonly entry: StateEntry;
  readonly change: StateChange;
}

const ALERT_AT = 0.8;
/** Maximum size of the values that one call reads for all extensions of a run. */
const PEEKED_BYTES = 262_144;
/** Values that live for a shorter time are not cached: they might expire while the run still uses them. */
const LEAST_BATCHED_MS = 60_000;
const EMPTY: StateView = { bytes: 0, extensions: {}, values: [], complete: [] };
const ALL: StateScope = { extension: '', session: '' };

/** Calls the state store. Each call keeps the limits and the timeout, or rejects with a typed error. */
export class StoreAccess {
  private readonly calls: StoreCalls;

  constructor(private readonly settings: StateSettings) {
    this.calls = new StoreCalls(settings);
  }

  get policy(): StatePolicy {
    return this.settings.policy;
  }

  /**
   * True if the store can read and write the state of several extensions in one call, and values live long enough to use
   * them at the end of a run.
   */
  get isBatched(): boolean {
    const { store, policy } = this.settings;
    const hasBatches = store.peek !== undefined && store.apply !== undefined;
    return hasBatches && Math.min(policy.ttlMs, policy.sessionTtlMs) >= LEAST_BATCHED_MS;
  }

  get(scope: StateScope, key: string, site: StateSite): Promise<string | undefined> {
    const { store, policy } = this.settings;
    return this.calls.run({ scope, operation: 'get', act: () => store.get(scope, key, policy) }, site);
  }

  /** Rejects with a StateLimitError if the value does not fit. */
  async set(scope: StateScope, entry: StateEntry, site: StateSite): Promise<StateChange> {
    const { store, policy } = this.settings;
    const change = await this.calls.run({ scope, operation: 'set', act: () => store.set(scope, entry, policy) }, site);
    if (!change.conflict) this.accept(scope, { entry, change }, site.logger);
    return change;
  }

  clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<number> {
    const { store } = this.settings;
    return this.calls.run({ scope, operation: 'clear', act: () => store.clear(scope, key) }, site);
  }

  /** Removes all state of an extension after its unfinished writes. Resolves to the number of removed values. */
  async clearExtension(extension: string, site: StateSite): Promise<number> {
    await this.calls.settled((scope) => scope.extension === extension || scope.extension === '');
    const act = () => this.settings.store.clearExtension(extension);
    return this.calls.run({ scope: ALL, operation: 'clearExtension', act }, site);
  }

  /** Removes the state of a session after its unfinished writes. Resolves to the number of removed values. */
  async clearSession(session: string, site: StateSite): Promise<number> {
    await this.calls.settled((scope) => scope.session === session);
    const act = () => this.settings.store.clearSession(session);
    return this.calls.run({ scope: { ...ALL, session }, operation: 'clearSession', act }, site);
  }

  async touch(session: string, site: StateSite): Promise<void> {
    const { store, policy } = this.settings;
    const act = () => store.touch(session, policy);
    await this.calls.run({ scope: { ...ALL, session }, operation: 'touch', act }, site);
  }

  stats(session: string, site: StateSite): Promise<StateStats> {
    const act = () => this.settings.store.stats(session);
    return this.calls.run({ scope: { ...ALL, session }, operation: 'stats', act }, site);
  }

  async peek(session: string, extensions: readonly string[], site: StateSite): Promise<StateView> {
    const { store } = this.settings;
    const query = { session, extensions, extensionBytes: Math.floor(PEEKED_BYTES / Math.max(1, extensions.length)) };
    const act = () => store.peek?.(query) ?? EMPTY;
    return this.calls.run({ scope: { ...ALL, session }, operation: 'peek', act }, site);
  }

  async apply(batch: StateBatch, site: StateSite): Promise<readonly StateChange[]> {
    const { store, policy } = this.settings;
    const act = () => store.apply?.(batch, policy) ?? [];
    return this.calls.run({ scope: { ...ALL, session: batch.session }, operation: 'apply', act }, site);
  }

  /** Records a write and its effects. Throws StateLimitError if the value did not fit. */
  accept(scope: StateScope, { entry, change }: StateWrite, logger: Logger): void {
    const { policy, metrics } = this.settings;
    const bytes = utf8Bytes(entry.value);
    if (!change.stored) throw new StateLimitError(entry.key, bytes + utf8Bytes(entry.key), limitsIn(policy));
    metrics.measure(EXTENSION_STATE_SIZE_BYTES, bytes, { extension_id: scope.extension });
    this.reportEvictions(scope, change, logger);
    this.alertIfFull(scope.session, change, logger);
  }

  /** Records a write of a batch. Logs an error if the value did not fit, because its callback has ended. */
  settle(scope: StateScope, write: StateWrite, logger: Logger): void {
    try {
      this.accept(scope, write, logger);
    } catch (error) {
      const { extension, session } = scope;
      logger.error(`Extension "${extension}": ${describeError(error)}`, { extensionId: extension, session, error });
    }
  }

  count(operation: 'get' | 'set' | 'update' | 'clear', extension: string): void {
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
