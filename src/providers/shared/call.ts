import type { Clock } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import type { ModelPart, ModelRequest, ModelResponse } from '../../model/model.js';
import { ProviderError, withRequestId } from './error.js';
import { toProviderError } from './failure.js';
import { clockOf, IdleWatch, type WatchedRequest } from './idle.js';

const LONGEST_WAIT_MS = 60_000;

/** One request to a provider, with the function that reads its response. */
export interface ProviderCall<Answer> {
  readonly provider: string;
  readonly maxRetries: number;
  send(): PromiseLike<Answer>;
  read(answer: Answer, request: WatchedRequest): Promise<ModelResponse>;
  /** The provider's id of the request, to quote in a support ticket. */
  requestIdOf(answer: Answer): string | null | undefined;
}

/**
 * Makes a call with its own abort signal, and retries it after temporary errors. Also aborts a stream that is silent
 * for too long.
 *
 * An abort rejects at once with the caller's reason. No listener stays on the caller's signal, whereas the official
 * clients leave one for each attempt.
 */
export async function answerTo<Answer>(
  request: ModelRequest,
  prepare: (request: ModelRequest) => Promise<ProviderCall<Answer>>,
): Promise<ModelResponse> {
  const { signal } = request;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise, reject } = createDeferred<never>();
  const stop = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const abort = () => stop(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const own = { ...request, signal: controller.signal, idle: new IdleWatch(request, stop) };
  try {
    return await Promise.race([promise, prepare(own).then((call) => withRetries(call, own))]);
  } finally {
    own.idle.end();
    signal?.removeEventListener('abort', abort);
  }
}

/**
 * Retries a request, and waits as long as the provider asks. Used instead of the retries of the clients, whose waits
 * ignore the abort signal and have no limit.
 */
async function withRetries<Answer>(call: ProviderCall<Answer>, request: WatchedRequest): Promise<ModelResponse> {
  const clock = clockOf(request);
  for (let retries = 0; ; retries += 1) {
    const { response, failure, isFinal } = await attempt(call, request);
    if (response) return response;
    request.signal?.throwIfAborted();
    const retryable = !isFinal && failure instanceof ProviderError && failure.retryable;
    if (!retryable || retries >= call.maxRetries) throw failure;
    const waitMs = failure.retryAfterMs ?? backoffMs(retries);
    if (waitMs > LONGEST_WAIT_MS) throw failure;
    await sleep(waitMs, clock, request.signal);
  }
}

interface Outcome {
  readonly response?: ModelResponse;
  readonly failure?: unknown;
  /** True if the request must not be retried. */
  readonly isFinal?: boolean;
}

/**
 * Makes one attempt. After the response has begun, an error may be retried only if it has a status code and no delta
 * was reported.
 */
async function attempt<Answer>(call: ProviderCall<Answer>, request: WatchedRequest): Promise<Outcome> {
  const { onPart, signal, idle } = request;
  let answer: Answer;
  try {
    answer = await call.send();
  } catch (error) {
    return { failure: toProviderError(call.provider, error) };
  }
  let isShown = false;
  const show = (part: ModelPart) => {
    if (signal?.aborted) return;
    isShown = true;
    idle.hear();
    onPart?.(part);
  };
  try {
    return { response: await call.read(answer, { ...request, onPart: onPart && show }) };
  } catch (error) {
    const failure = withRequestId(error, call.requestIdOf(answer));
    const hasStatus = failure instanceof ProviderError && failure.status !== undefined;
    return { failure, isFinal: isShown || !hasStatus };
  }
}

/**
 * Returns the delay before a retry: half a second, doubled with each retry up to eight seconds, minus up to a quarter.
 * The official clients use the same delays.
 */
function backoffMs(retries: number): number {
  return Math.min(500 * 2 ** retries, 8000) * (1 - Math.random() * 0.25);
}

function sleep(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(resolve, ms);
    const abort = () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
