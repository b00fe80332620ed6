import { MAX_TIMER_MS } from '../internal/clock.js';
import { callable, numberRule, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { report } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ModelCallRequest } from '../lifecycle/lifecycle.js';
import { retryDelayMs } from '../model/retry-delay.js';
import { ModelError } from '../model/run-error.js';

/** Options of `retryModelCalls`: how often and when a failed model call is repeated. */
export interface RetryOptions {
  /** The maximum number of retries of each model call. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** The delay before the first retry, in milliseconds. Each further delay is twice as long. Default: 500. */
  readonly initialDelayMs?: number | undefined;
  /** The maximum delay in milliseconds. If the provider asks for a longer delay, the call fails. Default: 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** Returns true if the call may be retried. Default: `error.retryable`. */
  readonly retryOn?: ((error: ModelError) => boolean) | undefined;
  /** Returns a number from 0 to 1 for the jitter: a delay is reduced by up to half. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Makes a lifecycle that retries model calls after temporary failures: status codes 408, 409, 429 and 5xx, lost
 * connections and timeouts. It waits as long as the provider asked for, or else by exponential backoff with jitter, on
 * the run's clock. An abort ends the wait.
 *
 * Other failures, and the last failure, are rethrown as the original ModelError. Each retry emits a `model-error`
 * event. Without a listener for this event, a warning is logged.
 *
 * A call is retried even if a listener has seen text of the failed attempt. Deltas carry their `attempt`, and
 * `model-end` has the final response. Disable the retries of the provider's client, because the two retry counts
 * multiply.
 *
 * Priority 30: inside hooks that change the request, so that they run once and not for each attempt.
 *
 * @example
 * const agent = new Agent({ model, lifecycle: [retryModelCalls({ maxRetries: 4 })] });
 */
export function retryModelCalls(options: RetryOptions = {}): AgentLifecycle {
  const waitAfter = resolveRetryOptions(options);
  return {
    name: 'retry-model-calls',
    priority: 30,
    async wrapModelCall(request, next) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await next(request);
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          const waitMs = waitAfter(error, attempt);
          if (waitMs === undefined) throw error;
          const news = {
            type: 'model-error',
            error,
            action: 'retry',
            model: request.model.id,
            delayMs: waitMs,
          } as const;
          report(request.run, news, `Attempt ${attempt + 1} follows in ${Math.round(waitMs)} ms: ${error.message}`);
          if (!(await waited(waitMs, request))) throw error;
        }
      }
    },
  };
}

/** Returns the delay after a failed attempt. Returns undefined if no further attempt follows. */
type WaitAfter = (error: ModelError, attempt: number) => number | undefined;

const delayMs = numberRule(`milliseconds from 0 to ${MAX_TIMER_MS}`, 0, MAX_TIMER_MS);
const rules = {
  maxRetries: whole(0),
  initialDelayMs: delayMs,
  maxDelayMs: delayMs,
  retryOn: callable,
  random: callable,
} satisfies OptionTable<RetryOptions>;

function resolveRetryOptions(options: RetryOptions): WaitAfter {
  validateOptions(options, rules);
  const { maxRetries = 2, initialDelayMs = 500, maxDelayMs = 30_000 } = options;
  const { retryOn = (error) => error.retryable, random = Math.random } = options;
  return (error, attempt) => {
    if (attempt > maxRetries || !retryOn(error)) return undefined;
    return retryDelayMs(error, attempt, { initialDelayMs, maxDelayMs, random });
  };
}

/** Resolves to true after the delay, or to false when the run's or the call's signal aborts first. */
function waited(ms: number, { run, signal }: ModelCallRequest): Promise<boolean> {
  const signals = [run.signal, ...(signal === undefined || signal === run.signal ? [] : [signal])];
  return new Promise((resolve) => {
    let timer: unknown;
    const end = (hasElapsed: boolean) => {
      run.clock.clearTimeout(timer);
      for (const each of signals) each.removeEventListener('abort', onAbort);
      resolve(hasElapsed);
    };
    const onAbort = () => end(false);
    timer = run.clock.setTimeout(() => end(true), ms);
    for (const each of signals) each.addEventListener('abort', onAbort);
    if (signals.some(({ aborted }) => aborted)) onAbort();
  });
}
