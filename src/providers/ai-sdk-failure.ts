import { describeError, KeelsonError } from '../errors.js';
import type { ModelFailureHints } from '../model/run-error.js';
import { ProviderError, unreadableBody } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { isObject, parseJson, textOr, type WireObject } from './wire.js';

const REQUEST_IDS = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'];

/** What a model of the AI SDK threw, as a typed error. Read by shape: its `APICallError` may be of any copy and major. */
export function toFailure(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError || !isObject(thrown) || typeof thrown.isRetryable !== 'boolean') {
    return toProviderError(provider, thrown);
  }
  const headers = headersOf(thrown.responseHeaders);
  const told = toldIn(provider, thrown, headers);
  const isStatus = told?.status !== undefined && told.status === thrown.statusCode;
  const isDecided = told !== undefined && (!isStatus || headers.has('x-should-retry'));
  return new ProviderError(provider, told?.message ?? messageOf(thrown), {
    status: told?.status,
    retryAfterMs: told?.retryAfterMs,
    retryable: isDecided ? told.retryable : thrown.isRetryable || isCut(provider, thrown.cause),
    requestId: requestIdIn(thrown.responseHeaders),
    cause: thrown,
  });
}

/** The provider's id of a request, in the headers of its answer. */
export function requestIdIn(given: unknown): string | undefined {
  const headers = headersOf(given);
  return REQUEST_IDS.map((name) => headers.get(name)).find(Boolean) ?? undefined;
}

type Told = KeelsonError & Partial<ModelFailureHints>;

/** What the server said: with a status, or in the place of an answer. */
function toldIn(provider: string, thrown: WireObject, headers: Headers): Told | undefined {
  const { statusCode: status, responseBody } = thrown;
  if (typeof status === 'number' && status >= 400) {
    return toProviderError(provider, { status, headers, error: bodyOf(thrown) });
  }
  if (typeof responseBody !== 'string') return undefined;
  const body = parseJson(responseBody);
  const first = Array.isArray(body) ? body[0] : body;
  if (isObject(first) && first.error) return toProviderError(provider, { headers, error: first.error });
  return body === undefined ? unreadableBody(provider, responseBody) : undefined;
}

/** What an error part of a stream bears: what was thrown, or an error's JSON as the provider sent it. */
export function toStreamFailure(provider: string, error: unknown): KeelsonError {
  if (error instanceof Error) return toFailure(provider, error);
  if (isObject(error) && typeof error.isRetryable === 'boolean') return toFailure(provider, error);
  const inner = isObject(error) && isObject(error.error) ? error.error : error;
  return toProviderError(provider, { error: inner ?? 'The provider broke off its answer, and did not say why.' });
}

/** The error's body as the provider sent it; its message where that says nothing. */
function bodyOf({ data, responseBody, message }: WireObject): unknown {
  const body = data ?? parseJson(textOr(responseBody)) ?? textOr(responseBody);
  const inner = isObject(body) && body.error ? body.error : body;
  return isObject(inner) || Array.isArray(inner) || textOr(inner) !== '' ? inner : message;
}

function messageOf({ message, cause }: WireObject): string {
  const told = textOr(message) || 'The call failed.';
  const root = cause === undefined ? '' : describeError(rootOf(cause));
  return told.includes(root) ? told : `${told} (${root})`;
}

function rootOf(error: unknown): unknown {
  let root = error;
  while (isObject(root) && root.cause !== undefined) root = root.cause;
  return root;
}

/** An answer that began well and was lost on its way is none of the provider's errors. */
function isCut(provider: string, cause: unknown): boolean {
  for (let at = cause; isObject(at); at = at.cause) {
    const told = toProviderError(provider, at);
    if (told instanceof ProviderError && told.retryable) return true;
  }
  return false;
}

function headersOf(given: unknown): Headers {
  const texts = Object.entries(isObject(given) ? given : {}).filter(([, value]) => typeof value === 'string');
  return new Headers(texts as [string, string][]);
}
