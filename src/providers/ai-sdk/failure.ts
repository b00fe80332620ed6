import { describeError, KeelsonError } from '../../errors.js';
import { ProviderError, unreadableBody } from '../shared/error.js';
import { causesOf, isBadHeader, toProviderError } from '../shared/failure.js';
import { isObject, parseJson, textOr, type WireObject } from '../shared/wire.js';

/** Fields of AI SDK errors that contain the messages of the request, or the response. */
const CONVERSATION = ['requestBodyValues', 'responseBody', 'value', 'text', 'data', 'prompt'];

/** Matches an error message that quotes the response, such as "Type validation failed: Value: {…}". */
const QUOTING = /^(JSON parsing failed|Type validation failed|Invalid response data)\b.*/s;

const REQUEST_IDS = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'];

/**
 * Converts an error of an AI SDK model into a typed error. Checks properties and not classes, because a program may
 * contain several copies or versions of the AI SDK.
 */
export function toFailure(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError || !isObject(thrown)) return toProviderError(provider, thrown);
  hideConversation(thrown);
  // The AI gateway also wraps the error for an invalid header, which can contain the API key and is never passed on.
  const badHeader = causesOf(thrown).find(isBadHeader);
  if (badHeader) return toProviderError(provider, badHeader);
  const status = typeof thrown.statusCode === 'number' ? thrown.statusCode : 0;
  if (status >= 400) return statusFailure(provider, thrown, status);
  const isCall = typeof thrown.isRetryable === 'boolean';
  const isTemporary = thrown.isRetryable === true || isNoAnswer(thrown) || isCut(provider, thrown.cause);
  const inside = errorInside(provider, thrown);
  const failure = inside ?? (toProviderError(provider, thrown) as ProviderError);
  if (!inside && !isCall && !isTemporary) return failure;
  return new ProviderError(provider, isCall && !inside ? messageOf(thrown) : failure.message, {
    ...failure,
    kind: failure.kind === 'unknown' && isTemporary && !inside ? 'network' : failure.kind,
    retryable: failure.retryable || (isTemporary && !inside),
    requestId: requestIdIn(thrown.responseHeaders) ?? failure.requestId,
    cause: thrown,
  });
}

/**
 * Makes fields that contain the request or the response invisible to loggers. An AI SDK error becomes the `cause` of a
 * ProviderError, and would be logged with it. Code can still read the fields.
 */
function hideConversation(thrown: unknown): void {
  for (const error of causesOf(thrown)) {
    if (!(error instanceof Error)) continue;
    for (const name of CONVERSATION) if (isOwn(error, name)) Object.defineProperty(error, name, { enumerable: false });
    shortenMessage(error);
    const { errors } = error as Partial<AggregateError>;
    if (Array.isArray(errors)) for (const inner of errors) hideConversation(inner);
  }
}

/**
 * Removes the quoted response from an error's message and stack. The message of a `JSON.parse` error quotes the
 * response too.
 */
function shortenMessage(error: Error): void {
  const { message, stack = '' } = error;
  const short = error.name === 'SyntaxError' ? 'The text is not valid JSON.' : message.replace(QUOTING, '$1.');
  if (short === message || !isOwn(error, 'message')) return;
  Object.defineProperty(error, 'message', { value: short });
  if (isOwn(error, 'stack')) Object.defineProperty(error, 'stack', { value: stack.replace(message, () => short) });
}

function isOwn(error: Error, name: string): boolean {
  return Object.getOwnPropertyDescriptor(error, name)?.configurable === true;
}

function statusFailure(provider: string, thrown: WireObject, status: number): ProviderError {
  const given = responseHeadersOf(thrown);
  const headers = headersOf(given);
  const error = bodyOf(thrown);
  const failure = toProviderError(provider, { status, headers, error }) as ProviderError;
  const { message, kind, retryAfterMs, retryable } = failure;
  const isTemporary = kind !== 'quota' && (thrown.isRetryable ?? retryable);
  const isLost = isCut(provider, thrown.cause) || (status >= 500 && isNamedTemporary(provider, error));
  return new ProviderError(provider, message, {
    status,
    kind,
    retryAfterMs,
    retryable: headers.has('x-should-retry') ? retryable : isTemporary === true || isLost,
    requestId: requestIdIn(given),
    cause: thrown,
  });
}

/** Returns the response headers of an error. An error of the AI gateway has none itself, but its cause has them. */
function responseHeadersOf({ responseHeaders, cause }: WireObject): unknown {
  return responseHeaders ?? (isObject(cause) ? cause.responseHeaders : undefined);
}

/**
 * True if the error in the response body has the name of a temporary error. Anthropic's AI SDK provider reports such an
 * error as status 500 and not retryable if it comes at the start of a stream.
 */
function isNamedTemporary(provider: string, error: unknown): boolean {
  const { status, retryable } = toProviderError(provider, { error }) as Partial<ProviderError>;
  return status !== undefined && retryable === true;
}

/**
 * Returns the provider's error from a response with status 200, or from a chunk of a stream. The AI SDK only says that
 * such a response does not match its schema.
 */
function errorInside(
  provider: string,
  { value, responseBody, responseHeaders }: WireObject,
): ProviderError | undefined {
  const body = value ?? parseJson(textOr(responseBody));
  const [first] = [body].flat();
  if (isObject(first) && first.error) {
    return toProviderError(provider, { headers: headersOf(responseHeaders), error: first.error }) as ProviderError;
  }
  return body === undefined && typeof responseBody === 'string' ? unreadableBody(provider, responseBody) : undefined;
}

/**
 * True for the error that the AI SDK throws for a response without a choice or a finish reason. Such an error is
 * temporary, unlike an error for an invalid part ("Expected '…'").
 */
function isNoAnswer({ name, message }: WireObject): boolean {
  return name === 'AI_InvalidResponseDataError' && !/^Expected '/.test(textOr(message));
}

/** Returns the id that the provider gave to the request, from the response headers. */
export function requestIdIn(given: unknown): string | undefined {
  const headers = headersOf(given);
  return REQUEST_IDS.map((name) => headers.get(name)).find(Boolean) ?? undefined;
}

/** Converts an error that a stream contains: a thrown error, or the provider's error as JSON. */
export function toStreamFailure(provider: string, error: unknown): KeelsonError {
  if (error instanceof Error) return toFailure(provider, error);
  if (isObject(error) && typeof error.isRetryable === 'boolean') return toFailure(provider, error);
  const inner = isObject(error) && isObject(error.error) ? error.error : error;
  return toProviderError(provider, { error: inner ?? 'The provider stopped its answer without a reason.' });
}

/** Returns the error in the response body. If the body has none, returns the message of the thrown error. */
function bodyOf({ data, responseBody, message }: WireObject): unknown {
  const body = data ?? parseJson(textOr(responseBody)) ?? textOr(responseBody);
  const inner = isObject(body) && body.error ? body.error : body;
  return isObject(inner) || Array.isArray(inner) || textOr(inner) !== '' ? inner : message;
}

function messageOf({ message, cause }: WireObject): string {
  const summary = textOr(message) || 'The call failed.';
  const root = cause === undefined ? '' : describeError(causesOf(cause).at(-1));
  return summary.includes(root) ? summary : `${summary} (${root})`;
}

/** True if the connection was lost, according to the error or one of its causes. */
function isCut(provider: string, cause: unknown): boolean {
  return causesOf(cause).some((each) => (toProviderError(provider, each) as Partial<ProviderError>).retryable === true);
}

function headersOf(given: unknown): Headers {
  const texts = Object.entries(isObject(given) ? given : {}).filter(([, value]) => typeof value === 'string');
  return new Headers(texts as [string, string][]);
}
