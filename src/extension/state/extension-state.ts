import { TimeoutExceededError } from '../../errors.js';
import { type Clock, withinTime } from '../../internal/clock.js';
import type { Logger } from '../../internal/logger.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { StateKeyError, utf8Bytes } from '../../state/state-key.js';
import type { StateChange, StatePolicy, StateScope, StateStats, StateStore } from '../../state/state-store.js';
import {
  EXTENSION_STATE_EVICTIONS,
  EXTENSION_STATE_OPERATIONS,
  EXTENSION_STATE_SIZE_BYTES,
} from '../../telemetry/metric-names.js';
import type { StandardSchema } from '../../tools/standard-schema.js';
import { StateLimitError, StateStoreError } from '../error.js';
import type { ExtensionMetrics } from '../metrics.js';
import { decodeState, encodeState, type StateCodec } from './state-codec.js';

/** The state of a session has reached 80 % of `sessionBytes`. Sent again only after the size has fallen below 80 %. */
export interface StateAlert {
  readonly session: string;
  readonly bytes: number;
  readonly limitBytes: number;
}

/** The store for extension state, with its limits. */
export interface StateSettings {
  readonly store: StateStore;
  readonly policy: StatePolicy;
  readonly timeoutMs: number;
  readonly metrics: ExtensionMetrics;
  readonly onAlert: ((alert: StateAlert) => Awaitable<void>) | undefined;
}

/** The clock and logger of a run, or of the registry. */
export interface StateSite {
  readonly clock: Clock;
  readonly logger: Logger;
}

const ALERT_AT = 0.8;

/**
 * The state of all extensions of a registry. Each operation keeps the limits and the timeout, or rejects with a typed
 * error.
 */
export class ExtensionState {
  /** Unfinished store calls, by extension id. */
  private readonly pending = new Map<string, Set<Promise<unknown>>>();
  /** Unfinished removals, by extension id. A new extension with the same id waits for the removal. */
  private readonly clearing = new Map<string, Promise<unknown>>();

  constructor(private readonly settings: StateSettings) {}

  async get<T>(
    scope: StateScope,
    { key, as }: { key: string; as: StandardSchema<unknown, T> | StateCodec<T> | undefined },
    site: StateSite,
  ): Promise<T | undefined> {
    const { store, policy, metrics } = this.settings;
    metrics.count(EXTENSION_STATE_OPERATIONS, { operation: 'get', extension_id: scope.extension });
    const text = await this.call(scope.extension, ['get', () => store.get(scope, key, policy)], site);
    return text === undefined ? undefined : decodeState(key, text, as);
  }

  async set<T>(
    scope: StateScope,
    { key, value, codec }: { key: string; value: T; codec: StateCodec<T> | undefined },
    site: StateSite,
  ): Promise<void> {
    const { store, policy, metrics } = this.settings;
    metrics.count(EXTENSION_STATE_OPERATIONS, { operation: 'set', extension_id: scope.extension });
    const text = encodeState(key, value, codec);
    const write = () => store.set(scope, { key, value: text }, policy);
    const change = await this.call(scope.extension, ['set', write], site);
    const bytes = utf8Bytes(text);
    if (!change.stored) throw new StateLimitError(key, bytes, limitsIn(policy));
    metrics.measure(EXTENSION_STATE_SIZE_BYTES, bytes, { extension_id: scope.extension });
    this.reportEvictions(scope, change, site.logger);
    this.alertIfFull(scope.session, change, site.logger);
  }

  async clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<void> {
    const { store, metrics } = this.settings;
    metrics.count(EXTENSION_STATE_OPERATIONS, { operation: 'clear', extension_id: scope.extension });
    const count = await this.call(scope.extension, ['clear', () => store.clear(scope, key)], site);
    const what = key === undefined ? 'its state' : `state "${key}"`;
    const details = { extensionId: scope.extension, session: scope.session, key, count };
    site.logger.info(`Extension "${scope.extension}" cleared ${what} in session "${scope.session}".`, details);
  }

  /** Removes all state of an extension after its unfinished writes. */
  async clearExtension(extension: string, site: StateSite): Promise<number> {
    const clearing = Promise.allSettled([...(this.pending.get(extension) ?? [])]).then(() =>
      this.call('', ['clearExtension', () => this.settings.store.clearExtension(extension)], site),
    );
    this.clearing.set(extension, clearing);
    try {
      return await clearing;
    } finally {
      if (this.clearing.get(extension) === clearing) this.clearing.delete(extension);
    }
  }

  /** Removes the state of a session after all unfinished writes. */
  async clearSession(session: string, site: StateSite): Promise<void> {
    await Promise.allSettled([...this.pending.values()].flatMap((calls) => [...calls]));
    await this.call('', ['clearSession', () => this.settings.store.clearSession(session)], site);
  }

  /** Restarts the session's time to live. */
  async touch(session: string, site: StateSite): Promise<void> {
    const { store, policy } = this.settings;
    await this.call('', ['touch', () => store.touch(session, policy)], site);
  }

  async stats(session: string, site: StateSite): Promise<StateStats> {
    return this.call('', ['stats', () => this.settings.store.stats(session)], site);
  }

  /** Calls the store after an unfinished removal for the same extension id. */
  private call<T>(extension: string, work: readonly [string, () => Awaitable<T>], site: StateSite): Promise<T> {
    const clearing = this.clearing.get(extension);
    if (clearing === undefined) return this.attempt(extension, work, site);
    const gone = clearing.catch(() => {});
    return this.tracked(
      extension,
      gone.then(() => this.attempt(extension, work, site)),
    );
  }

  /** Calls the store within the timeout. Rejects with StateKeyError or StateStoreError. */
  private async attempt<T>(
    extension: string,
    [operation, act]: readonly [string, () => Awaitable<T>],
    { clock }: StateSite,
  ): Promise<T> {
    try {
      const result = act();
      if (!isPromise(result)) return result;
      const late = new TimeoutExceededError(`state store's \`${operation}\``, this.settings.timeoutMs);
      return await this.tracked(extension, withinTime(result, late, clock));
    } catch (error) {
      throw error instanceof StateKeyError ? error : new StateStoreError(operation, error);
    }
  }

  private async tracked<T>(extension: string, answer: Promise<T>): Promise<T> {
    const calls = this.pending.get(extension) ?? new Set();
    this.pending.set(extension, calls.add(answer));
    try {
      return await answer;
    } finally {
      calls.delete(answer);
      if (calls.size === 0 && this.pending.get(extension) === calls) this.pending.delete(extension);
    }
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
