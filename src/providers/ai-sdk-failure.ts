import { describeError, KeelsonError } from '../errors.js';
import { ProviderError } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { isObject, parseJson, textOr, type WireObject } from './wire.js';

const REQUEST_IDS = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'];

/** What a model of the AI SDK threw, as a typed error. Read by shape: its `APICallError` may be of any copy and major. */
export function toFailure(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError || !isObject(thrown) || typeof thrown.isRetryable !== 'boolean') {
    return toProviderError(provider, thrown);
  }
  const headers = headersOf(thrown.responseHeaders);
  const status = typeof thrown.statusCode === 'number' ? thrown.statusCode : undefined;
  const isStatus = status !== undefined && status >= 400;
  const told = isStatus ? toProviderError(provider, { status, headers, error: bodyOf(thrown) }) : undefined;
  const { retryAfterMs, retryable } = (told ?? {}) as Partial<ProviderError>;
  return new ProviderError(provider, told?.message ?? messageOf(thrown), {
    status: isStatus ? status : undefined,
    retryAfterMs,
    retryable: headers.has('x-should-retry') ? retryable : thrown.isRetryable || isCut(provider, thrown.cause),
    requestId: REQUEST_IDS.map((name) => headers.get(name)).find(Boolean) ?? undefined,
    cause: thrown,
  });
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
