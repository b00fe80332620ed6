import { describeError, KeelsonError } from '../../errors.js';
import { systemClock } from '../../internal/clock.js';
import { ProviderError } from './error.js';
import { kindOf } from './failure-kind.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from './wire.js';

const LONGEST_MESSAGE = 500;
const REASON_FIELDS = ['message', 'error', 'detail', 'msg', 'response'];
const NETWORK_CODE = /^(ECONN|ENOTFOUND|EAI_|EPIPE|ENET|EHOST|ETIMEDOUT|UND_ERR_)/;
const FETCH_FAILURE = /network|fetch|load failed|terminated|connection|socket|reading a body/i;

/** Names of the errors for invalid JSON, including the name that the AI SDK uses. */
const NO_JSON = /^(AI_JSONParseError|SyntaxError)$/;

const BAD_HEADER = /invalid header value|header.*invalid value/is;

/** The status codes of temporary errors that a response body or an event may contain, by the name of the error. */
const STATUS_OF_NAME = new Map([
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['server_is_overloaded', 503],
  ['internal_server_error', 500],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  // The next names are Bedrock's.
  ['modeltimeoutexception', 408],
  ['throttlingexception', 429],
  ['internalserverexception', 500],
  ['modelstreamerrorexception', 500],
  ['serviceunavailableexception', 503],
]);
/** Matches names of permanent errors, for which a retry is useless. */
const LASTING =
  /^(?:invalid_(?:request|api_key|argument|param|prompt|model)|authentication_|permission_|billing_|not_found|insufficient_quota|quota_exceeded|credit_balance_|context_length_|validationexception)/;

/**
 * Converts an error of a provider's client, or an `{ error }` object from a server, into a typed error. Checks
 * properties and not classes, because a program may contain several copies or versions of the client's package.
 */
export function toProviderError(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError) return thrown;
  if (isBadHeader(thrown)) {
    return new ProviderError(
      provider,
      'A request header contains a character that headers must not contain. Check the API key and `headers`.',
    );
  }
  const error = isObject(thrown) ? thrown : {};
  const status = statusOf(error);
  const message = messageOf(thrown, error);
  const kind = isCut(error) ? 'network' : kindOf({ status, names: namesOf(error), message });
  return new ProviderError(provider, message, {
    status,
    kind,
    // Providers report both an exhausted quota and a temporary limit with status 429.
    retryable: kind !== 'quota' && isRetryable(error, status),
    retryAfterMs: retryAfterOf(error),
    requestId: textOr(error.requestID) || undefined,
    cause: thrown,
  });
}

/** Returns an error and the chain of its causes, the root cause last. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes = [error];
  for (let at = error; isObject(at) && at.cause !== undefined && !causes.includes(at.cause); at = at.cause) {
    causes.push(at.cause);
  }
  return causes;
}

/**
 * True for the error that `fetch` throws for an invalid header value. Its message may contain the API key, so the error
 * is never shown or passed on.
 */
export function isBadHeader(thrown: unknown): boolean {
  return thrown instanceof TypeError && BAD_HEADER.test(thrown.message);
}

/**
 * Returns the HTTP status code of an error. For an error inside a response, returns its numeric code, or the status
 * that belongs to its name.
 */
function statusOf(error: WireObject): number | undefined {
  const named = isObject(error.error) ? error.error.code : undefined;
  const status = Number(error.status ?? named ?? 0);
  if (status >= 400 && status < 600) return status;
  const names = namesOf(error);
  return names.some((name) => LASTING.test(name))
    ? undefined
    : names.map((name) => STATUS_OF_NAME.get(name)).find(Boolean);
}

function namesOf(error: unknown): readonly string[] {
  if (!isObject(error)) return [];
  // Anthropic's client does not unwrap the error of an event. Bedrock's errors use their class name, and Google's
  // errors have their name in `status`.
  const names = [error.code, error.type, error.name, error.status].map((name) => textOr(name).toLowerCase());
  return names.concat(namesOf(error.error));
}

function messageOf(thrown: unknown, error: WireObject): string {
  if (isConnectionLoss(error)) return `The connection failed: ${withRootCause(thrown)}`;
  if (NO_JSON.test(textOr(error.name)))
    return `The response cannot be read: expected valid JSON: ${describeError(thrown)}`;
  const reason = reasonOf(error.error);
  const statusAndReason = reason && typeof error.status === 'number' ? `${error.status} ${reason}` : reason;
  const message = statusAndReason || (thrown instanceof Error ? thrown.message : describeError(error.error ?? thrown));
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
}

/**
 * Returns the reason that an error body gives. OpenRouter adds the error of the upstream server in `metadata.raw`. Groq
 * adds the model's refused output in `failed_generation`.
 */
function reasonOf(body: unknown): string {
  const reason = reasonIn(body);
  const raw = isObject(body) && isObject(body.metadata) ? body.metadata.raw : undefined;
  const behind = raw ? reasonIn(parseJson(textOr(raw)) ?? raw) : '';
  const details = [behind, isObject(body) ? textOr(body.failed_generation) : ''].filter(Boolean);
  return details.length === 0 ? reason : `${reason} (${details.join('; ')})`;
}

/**
 * Returns the message in an error body. Servers use different fields, and some put the error into an array or into
 * another error.
 */
function reasonIn(body: unknown): string {
  let reason: unknown = Array.isArray(body) ? body[0] : body;
  while (isObject(reason)) {
    const fields: WireObject = reason;
    const name = REASON_FIELDS.find((field) => fields[field]);
    if (name === undefined) break;
    reason = fields[name];
  }
  return typeof reason === 'string' ? reason : (JSON.stringify(reason) ?? '');
}

function isRetryable(error: WireObject, status: number | undefined): boolean {
  const shouldRetry = headerOf(error, 'x-should-retry');
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true';
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  // If an error occurs after the response began, the server has failed, unless the error's name says otherwise.
  if (error.error) return !namesOf(error.error).some((name) => LASTING.test(name));
  return isCut(error);
}

/** True if an error means a lost connection. Incomplete JSON and incomplete Bedrock events count too. */
function isCut(error: WireObject): boolean {
  if (error.status !== undefined || error.error !== undefined) return false;
  return (
    isConnectionLoss(error) ||
    NO_JSON.test(textOr(error.name)) ||
    /^(?:truncated|incomplete)\b.*\bevent\b/i.test(textOr(error.message))
  );
}

/**
 * True for an error of an official client that has no status and no body, and for the TypeError of `fetch` on a lost
 * connection.
 */
function isConnectionLoss(error: WireObject): boolean {
  if (error.status !== undefined || error.error !== undefined) return false;
  if ('status' in error || NETWORK_CODE.test(textOr(error.code))) return true;
  if (error.name !== 'TypeError' || error.code !== undefined) return false;
  return error.cause !== undefined || FETCH_FAILURE.test(textOr(error.message));
}

/**
 * Returns the message of an error together with its root cause, because the official clients only say "Connection
 * error.".
 */
function withRootCause(error: unknown): string {
  const root = causesOf(error).findLast((cause) => cause instanceof Error) ?? error;
  return root === error ? describeError(error) : `${describeError(error)} (${describeError(root)})`;
}

function retryAfterOf(error: WireObject): number | undefined {
  const exact = headerOf(error, 'retry-after-ms');
  if (exact?.trim() && Number(exact) >= 0 && Number.isFinite(Number(exact))) return Number(exact);
  const after = headerOf(error, 'retry-after')?.trim() || retryDelayIn(error.error);
  if (!after) return undefined;
  const waitMs = Number.isNaN(Number(after)) ? Date.parse(after) - systemClock.now() : Number(after) * 1000;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}

/** Returns the delay before a retry that the error body asks for, in seconds. Google sends it only in the body. */
function retryDelayIn(body: unknown): string | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const { error = first } = isObject(first) ? first : {};
  const delays = isObject(error) ? objectsIn(error.details).map(({ retryDelay }) => textOr(retryDelay)) : [];
  return /^(\d+(?:\.\d+)?)s$/m.exec(delays.join('\n'))?.[1];
}

function headerOf(error: WireObject, name: string): string | undefined {
  const headers = error.headers as { get?: (name: string) => string | null } | null | undefined;
  return typeof headers?.get === 'function' ? (headers.get(name) ?? undefined) : undefined;
}
