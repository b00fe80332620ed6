import { describeError, OptionInvalidError, TimeoutExceededError } from '../../errors.js';
import { type Clock, withinTime } from '../../internal/clock.js';
import type { Logger } from '../../internal/logger.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { StateKeyError } from '../../state/state-key.js';
import type { StateScope } from '../../state/state-store.js';
import { StateStoreError } from '../error.js';

/** The clock and logger of a run, or of the registry. */
export interface StateSite {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Collects the writes of a durable run, which are stored with the steps of the run. Undefined for other runs. */
  readonly written?: StateWrite[] | undefined;
}

/** A write of an extension, as a durable run stores it. */
export interface StateWrite {
  readonly extension: string;
  /** Absent if all values of the extension were cleared. */
  readonly key?: string | undefined;
  /** The encoded value. Absent if the key was cleared. */
  readonly value?: string | undefined;
}

/** A call of the state store. An empty extension stands for all extensions, an empty session for all sessions. */
export interface StoreCall<T> {
  readonly scope: StateScope;
  readonly operation: string;
  readonly act: () => Awaitable<T>;
}

interface Pending {
  readonly scope: StateScope;
  readonly answer: Promise<unknown>;
}

/** The time limits of store calls. */
export interface StoreTimes {
  readonly timeoutMs: number;
  /** Milliseconds without calls after a call that had no answer. Default: the duration of that call. */
  readonly pauseMs: number | undefined;
}

/**
 * Calls the state store within a time limit. If a call times out and the store has answered no call in the meantime,
 * later calls fail at once for a while.
 */
export class StoreCalls {
  private readonly pending = new Set<Pending>();
  private answeredAt = Number.NEGATIVE_INFINITY;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private failure: unknown = undefined;

  constructor(private readonly times: StoreTimes) {}

  /** Resolves when no call in a matching scope is unfinished. */
  async settled(matches: (scope: StateScope) => boolean): Promise<void> {
    const calls = [...this.pending].filter(({ scope }) => matches(scope));
    await Promise.allSettled(calls.map(({ answer }) => answer));
  }

  /** Calls the store. Rejects with StateKeyError, OptionInvalidError or StateStoreError. */
  async run<T>({ scope, operation, act }: StoreCall<T>, site: StateSite): Promise<T> {
    try {
      if (site.clock.now() < this.pausedUntil) throw this.failure;
      const result = act();
      if (!isPromise(result)) return result;
      const entry = { scope, answer: this.bounded(operation, result, site) };
      this.pending.add(entry);
      return await entry.answer.finally(() => this.pending.delete(entry));
    } catch (error) {
      if (error instanceof StateKeyError || error instanceof OptionInvalidError) throw error;
      throw new StateStoreError(operation, error);
    }
  }

  private async bounded<T>(operation: string, result: PromiseLike<T>, { clock, logger }: StateSite): Promise<T> {
    const startedAt = clock.now();
    const late = new TimeoutExceededError(`state store's \`${operation}\``, this.times.timeoutMs);
    try {
      const answer = await withinTime(result, late, clock);
      this.answeredAt = clock.now();
      return answer;
    } catch (error) {
      const isSilent = isTimeout(error) && this.answeredAt <= startedAt && clock.now() >= this.pausedUntil;
      if (isSilent) this.pause(error, clock.now() - startedAt, { clock, logger });
      throw error;
    }
  }

  private pause(error: unknown, tookMs: number, { clock, logger }: StateSite): void {
    const { pauseMs = tookMs } = this.times;
    this.pausedUntil = clock.now() + pauseMs;
    this.failure = error;
    logger.warn(
      `The state store does not answer, so calls of extensions fail at once for ${pauseMs} ms: ${describeError(error)}`,
      error,
    );
  }
}

/** True if an error, or one of its causes, is a time-out. Stores have time limits of their own. */
function isTimeout(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof TimeoutExceededError) return true;
    current = current.cause;
  }
  return false;
}
