import { describeError, KeelsonError } from '../../errors.js';
import { ProviderError, unreadableBody } from '../shared/error.js';
import { causesOf, isBadHeader, toProviderError } from '../shared/failure.js';
import { isObject, parseJson, textOr, type WireObject } from '../shared/wire.js';

const REQUEST_IDS = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'];

/** What a model of the AI SDK threw, as a typed error. Read by shape: its `APICallError` may be of any copy and major. */
export function toFailure(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError || !isObject(thrown)) return toProviderError(provider, thrown);
  // The AI gateway wraps also what none is told of.
  const untold = causesOf(thrown).find(isBadHeader);
  if (untold) return toProviderError(provider, untold);
  const status = typeof thrown.statusCode === 'number' ? thrown.statusCode : 0;
  if (status >= 400) return statusFailure(provider, thrown, status);
  const isCall = typeof thrown.isRetryable === 'boolean';
  const isPassing = thrown.isRetryable === true || isNoAnswer(thrown) || isCut(provider, thrown.cause);
  const inside = toldInside(provider, thrown);
  const told = inside ?? (toProviderError(provider, thrown) as ProviderError);
  if (!inside && !isCall && !isPassing) return told;
  return new ProviderError(provider, isCall && !inside ? messageOf(thrown) : told.message, {
    ...told,
    retryable: told.retryable || (isPassing && !inside),
    requestId: requestIdIn(thrown.responseHeaders) ?? told.requestId,
    cause: thrown,
  });
}

function statusFailure(provider: string, thrown: WireObject, status: number): ProviderError {
  const given = responseHeadersOf(thrown);
  const headers = headersOf(given);
  const error = bodyOf(thrown);
  const { message, retryAfterMs, retryable } = toProviderError(provider, { status, headers, error }) as ProviderError;
  const isPassing = thrown.isRetryable ?? retryable;
  const isLost = isCut(provider, thrown.cause) || (status >= 500 && isNamedPassing(provider, error));
  return new ProviderError(provider, message, {
    status,
    retryAfterMs,
    retryable: headers.has('x-should-retry') ? retryable : isPassing === true || isLost,
    requestId: requestIdIn(given),
    cause: thrown,
  });
}

/** Errors of the AI gateway have none of their own, but what they were made of has. */
function responseHeadersOf({ responseHeaders, cause }: WireObject): unknown {
  return responseHeaders ?? (isObject(cause) ? cause.responseHeaders : undefined);
}

/** Anthropic's provider calls every error at the beginning of a stream a 500, and one that does not pass. */
function isNamedPassing(provider: string, error: unknown): boolean {
  const { status, retryable } = toProviderError(provider, { error }) as Partial<ProviderError>;
  return status !== undefined && retryable === true;
}

/** A server may say that it failed in an answer of status 200, or in a chunk of one: then that is no answer by the schema. */
function toldInside(provider: string, { value, responseBody, responseHeaders }: WireObject): ProviderError | undefined {
  const body = value ?? parseJson(textOr(responseBody));
  const [first] = [body].flat();
  if (isObject(first) && first.error) {
    return toProviderError(provider, { headers: headersOf(responseHeaders), error: first.error }) as ProviderError;
  }
  return body === undefined && typeof responseBody === 'string' ? unreadableBody(provider, responseBody) : undefined;
}

/** An answer without a choice or an end, as the AI SDK calls it; not one whose parts are wrong, as they will be again. */
function isNoAnswer({ name, message }: WireObject): boolean {
  return name === 'AI_InvalidResponseDataError' && !/^Expected '/.test(textOr(message));
}

/** The provider's id of a request, in the headers of its answer. */
export function requestIdIn(given: unknown): string | undefined {
  const headers = headersOf(given);
  return REQUEST_IDS.map((name) => headers.get(name)).find(Boolean) ?? undefined;
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
  const root = cause === undefined ? '' : describeError(causesOf(cause).at(-1));
  return told.includes(root) ? told : `${told} (${root})`;
}

/** An answer that began well and was lost on its way is none of the provider's errors. */
function isCut(provider: string, cause: unknown): boolean {
  return causesOf(cause).some((each) => (toProviderError(provider, each) as Partial<ProviderError>).retryable === true);
}

function headersOf(given: unknown): Headers {
  const texts = Object.entries(isObject(given) ? given : {}).filter(([, value]) => typeof value === 'string');
  return new Headers(texts as [string, string][]);
}
