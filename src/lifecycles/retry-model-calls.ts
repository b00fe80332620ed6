import { MAX_TIMER_MS } from '../internal/clock.js';
import { callable, numberRule, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { report } from '../lifecycle/hook-run.js';
import type { AgentLifecycle, ModelCallRequest } from '../lifecycle/lifecycle.js';
import { ModelError } from '../model/run-error.js';

/** How often, and when, a failed model call is made again. Every option has a default. */
export interface RetryOptions {
  /** Attempts after the first of each model call. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** The first wait in milliseconds; each further one is twice as long. Default: 500. */
  readonly initialDelayMs?: number | undefined;
  /** The longest wait in milliseconds. Where the provider asks for a longer one, the call fails. Default: 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** Whether another attempt makes sense. Default: `error.retryable`. */
  readonly retryOn?: ((error: ModelError) => boolean) | undefined;
  /** From 0 to 1, for the jitter: a wait is between a half and the whole of what it could be. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Makes a lifecycle that repeats model calls which failed in a way that may pass: 408, 409, 429, 5xx, lost connections
 * and time-outs. It waits as long as the provider asked, else by exponential backoff with jitter, on the run's clock. An
 * abort ends the wait. What does not pass, or has failed too often, is rethrown as the ModelError that it is.
 *
 * Each retry is a `model-error` event; a line in the log when nobody listens to it.
 *
 * Also where a listener has seen text of the failed attempt: deltas carry their `attempt`, and `model-end` counts. Give
 * the provider's client no retries of its own, or the two multiply.
 *
 * Priority 30: inside of what writes the request, which is so not done again for each attempt.
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
          report(request.run, news, `${error.message}; attempt ${attempt + 1} follows in ${Math.round(waitMs)} ms`);
          if (!(await waited(waitMs, request))) throw error;
        }
      }
    },
  };
}

/** Gives the wait after an attempt that failed, or undefined where there is no other. */
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
    const { retryAfterMs } = error;
    if (retryAfterMs !== undefined && retryAfterMs >= 0) return retryAfterMs <= maxDelayMs ? retryAfterMs : undefined;
    return Math.min(initialDelayMs * 2 ** (attempt - 1), maxDelayMs) * (0.5 + random() / 2);
  };
}

/** Waits; false where the run, or the call by a signal of its own, was aborted meanwhile. */
function waited(ms: number, { run, signal }: ModelCallRequest): Promise<boolean> {
  const signals = [run.signal, ...(signal === undefined || signal === run.signal ? [] : [signal])];
  return new Promise((resolve) => {
    let timer: unknown;
    const end = (isWhole: boolean) => {
      run.clock.clearTimeout(timer);
      for (const one of signals) one.removeEventListener('abort', onAbort);
      resolve(isWhole);
    };
    const onAbort = () => end(false);
    timer = run.clock.setTimeout(() => end(true), ms);
    for (const one of signals) one.addEventListener('abort', onAbort);
    if (signals.some(({ aborted }) => aborted)) onAbort();
  });
}
