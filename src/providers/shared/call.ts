import type { Clock } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import type { ModelPart, ModelRequest, ModelResponse } from '../../model/model.js';
import { ProviderError, withRequestId } from './error.js';
import { toProviderError } from './failure.js';
import { clockOf, IdleWatch, type WatchedRequest } from './idle.js';

const LONGEST_WAIT_MS = 60_000;

/** One request to a provider, with functions to send it and to read its response. */
export interface ProviderCall<Answer> {
  readonly provider: string;
  readonly maxRetries: number;
  send(): PromiseLike<Answer>;
  read(answer: Answer, request: WatchedRequest): Promise<ModelResponse>;
  /** Returns the id that the provider gave to the request. Quote it in a support ticket. */
  requestIdOf(answer: Answer): string | null | undefined;
}

/**
 * Sends a request, and sends it again after temporary errors. Also aborts a stream that sends nothing for too long.
 *
 * An abort rejects at once with the reason of the caller's signal. The official clients leave a listener on a signal
 * for each attempt, so they get a signal of their own.
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
 * Sends a request, and retries it after the delay that the provider asks for. Replaces the retries of the official
 * clients, whose delays ignore the abort signal and have no limit.
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
  /** True if the request must not be sent again, because the answer has begun. */
  readonly isFinal?: boolean;
}

/**
 * Sends a request once. After the response has begun, an error allows a retry only if it has a status code and no delta
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
 * Returns the delay before a retry in milliseconds: half a second, doubled with each retry up to eight seconds, minus a
 * random part of up to a quarter. The official clients use the same delays.
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
