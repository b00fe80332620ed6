import { type Clock, systemClock } from '../../../../internal/clock.js';
import type { ModelCallRequest } from '../../../../lifecycle/lifecycle.js';
import type { ModelRequest } from '../../../../model/model.js';
import { begun, type ClientRequestOptions } from '../../../shared/client.js';
import { ProviderError } from '../../../shared/error.js';
import { toProviderError } from '../../../shared/failure.js';
import { textOr, type WireObject } from '../../../shared/wire.js';
import type { OpenAIResponsesClient } from '../../client.js';
import { responseIn } from './response.js';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;
/**
 * The number of failed polls in a row after which the model call fails. OpenAI itself continues to work on the
 * response.
 */
const MOST_FAILURES = 5;

/** A model call in background mode: OpenAI works on the response, and the client polls for it. */
export interface BackgroundCall {
  readonly client: OpenAIResponsesClient;
  readonly request: ModelRequest & Partial<Pick<ModelCallRequest, 'run'>>;
  readonly options: ClientRequestOptions;
}

/** True for a response on which OpenAI is still working. */
export function isPending({ status }: WireObject): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Polls a response until OpenAI has finished it. If the run is aborted, cancels the response. */
export async function finished(response: WireObject, call: BackgroundCall): Promise<WireObject> {
  const { client, request } = call;
  const id = textOr(response.id);
  if (client.retrieve === undefined) {
    throw new ProviderError(
      'openai',
      'Background mode needs a client with `responses.retrieve`, got a client without it.',
    );
  }
  const cancel = () => cancelResponse(id, call);
  request.signal?.addEventListener('abort', cancel, { once: true });
  try {
    if (request.signal?.aborted) cancel();
    return await poll(response, call);
  } finally {
    request.signal?.removeEventListener('abort', cancel);
  }
}

async function poll(first: WireObject, call: BackgroundCall): Promise<WireObject> {
  const { request } = call;
  const clock = request.run?.clock ?? systemClock;
  let response = first;
  let failures = 0;
  for (let waitMs = FIRST_WAIT_MS; isPending(response); waitMs = Math.min(waitMs * 1.5, LONGEST_WAIT_MS)) {
    await sleep(waitMs, clock, request.signal);
    try {
      response = await retrieve(textOr(first.id), call);
      failures = 0;
    } catch (thrown) {
      const error = toProviderError('openai', thrown);
      failures += 1;
      request.signal?.throwIfAborted();
      if (!(error instanceof ProviderError && error.retryable) || failures >= MOST_FAILURES) throw error;
    }
  }
  return response;
}

/**
 * Polls a response once. Uses a new abort signal, because the `openai` package leaves a listener on the signal after
 * each request.
 */
async function retrieve(id: string, { client, request, options }: BackgroundCall): Promise<WireObject> {
  const { retrieve: get } = client as Required<OpenAIResponsesClient>;
  const controller = new AbortController();
  const abort = () => controller.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', abort, { once: true });
  try {
    const answer = await begun(get.call(client, id, {}, { ...options, signal: controller.signal }));
    return responseIn(answer.data);
  } finally {
    request.signal?.removeEventListener('abort', abort);
  }
}

/** Cancels a response. Ignores the abort signal and all errors, because the run has already ended. */
function cancelResponse(id: string, { client, options: { signal, ...options } }: BackgroundCall): void {
  Promise.resolve(client.cancel?.(id, options)).catch(() => {});
}

function sleep(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
