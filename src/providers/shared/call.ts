import { type Clock, systemClock } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { ModelRequest } from '../../model/model.js';
import { ProviderError } from './error.js';
import { toProviderError } from './failure.js';

const LONGEST_WAIT_MS = 60_000;

/** How often, and until when, a request is sent again. */
export interface RetryPolicy {
  readonly provider: string;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The clock of the run that calls the model, where one does. */
export function clockOf(request: ModelRequest & Partial<Pick<ModelCallRequest, 'run'>>): Clock {
  return request.run?.clock ?? systemClock;
}

/**
 * Runs a call under a signal of its own, which follows the caller's. An abort rejects at once with the caller's reason,
 * whatever the call is waiting for, and leaves no listener on the caller's signal: the official clients do, for each try.
 */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return call(undefined);
  signal.throwIfAborted();
  const controller = new AbortController();
  const { promise, reject } = createDeferred<never>();
  const abort = () => {
    reject(signal.reason);
    controller.abort(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, call(controller.signal)]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Sends a request until it is answered, honouring what the provider says of when to come again. Takes the place of the
 * clients' own retries, whose waits no signal ends and no bound holds: a server may ask for a day.
 */
export async function withRetries<T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (thrown) {
      policy.signal?.throwIfAborted();
      const error = toProviderError(policy.provider, thrown);
      const retryable = error instanceof ProviderError && error.retryable;
      if (!retryable || retries >= policy.maxRetries) throw error;
      const waitMs = error.retryAfterMs ?? backoffMs(retries);
      if (waitMs > LONGEST_WAIT_MS) throw error;
      await sleep(waitMs, policy);
    }
  }
}

/** Half a second, doubled up to eight, less up to a quarter: what the official clients do. */
function backoffMs(retries: number): number {
  return Math.min(500 * 2 ** retries, 8000) * (1 - Math.random() * 0.25);
}

function sleep(ms: number, { signal, clock }: RetryPolicy): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(resolve, ms);
    const abort = () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
