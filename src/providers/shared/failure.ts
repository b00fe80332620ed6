import { describeError, KeelsonError } from '../../errors.js';
import { systemClock } from '../../internal/clock.js';
import { ProviderError } from './error.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from './wire.js';

const LONGEST_MESSAGE = 500;
const REASON_FIELDS = ['message', 'error', 'detail', 'msg', 'response'];
const NETWORK_CODE = /^(ECONN|ENOTFOUND|EAI_|EPIPE|ENET|EHOST|ETIMEDOUT|UND_ERR_)/;
const FETCH_FAILURE = /network|fetch|load failed|terminated|connection|socket|reading a body/i;

/** What a parser of JSON throws, also in the AI SDK. */
const NO_JSON = /^(AI_JSONParseError|SyntaxError)$/;

const BAD_HEADER = /invalid header value|header.*invalid value/is;

/** What an error that comes inside an answer is called where it might pass, and the status that it has elsewhere. */
const STATUS_OF_NAME = new Map([
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['server_is_overloaded', 503],
  ['internal_server_error', 500],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  // Bedrock's.
  ['modeltimeoutexception', 408],
  ['throttlingexception', 429],
  ['internalserverexception', 500],
  ['modelstreamerrorexception', 500],
  ['serviceunavailableexception', 503],
]);
/** What it is called where it will come again. */
const LASTING =
  /^(?:invalid_(?:request|api_key|argument|param|prompt|model)|authentication_|permission_|billing_|not_found|insufficient_quota|context_length_|validationexception)/;

/**
 * What a provider's client threw, as a typed error; also `{ error }` as a server wrote it into its answer. Read by shape,
 * not by class: the client may be another copy, or another major, of its package.
 */
export function toProviderError(provider: string, thrown: unknown): KeelsonError {
  if (thrown instanceof KeelsonError) return thrown;
  if (isBadHeader(thrown)) {
    return new ProviderError(provider, 'A header has a character that none can have. Check the key, and the headers.');
  }
  const error = isObject(thrown) ? thrown : {};
  const status = statusOf(error);
  return new ProviderError(provider, messageOf(thrown, error), {
    status,
    retryable: isRetryable(error, status),
    retryAfterMs: retryAfterOf(error),
    requestId: textOr(error.requestID) || undefined,
    cause: thrown,
  });
}

/** An error, and what led to it, the root last. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes = [error];
  for (let at = error; isObject(at) && at.cause !== undefined && !causes.includes(at.cause); at = at.cause) {
    causes.push(at.cause);
  }
  return causes;
}

/** Such an error holds the whole value, which may be the key: neither its words nor itself are told. */
export function isBadHeader(thrown: unknown): boolean {
  return thrown instanceof TypeError && BAD_HEADER.test(thrown.message);
}

/** The HTTP status, or that which an error inside an answer gives as its code, or is known by. */
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
  // Anthropic's client leaves an event's error in its envelope. Bedrock's errors have the name for a class.
  return [error.code, error.type, error.name].map((name) => textOr(name).toLowerCase()).concat(namesOf(error.error));
}

function messageOf(thrown: unknown, error: WireObject): string {
  if (isConnectionLoss(error)) return `The connection failed: ${withRootCause(thrown)}`;
  if (NO_JSON.test(textOr(error.name))) return `The answer is no whole JSON: ${describeError(thrown)}`;
  const reason = reasonOf(error.error);
  const told = reason && typeof error.status === 'number' ? `${error.status} ${reason}` : reason;
  const message = told || (thrown instanceof Error ? thrown.message : describeError(error.error ?? thrown));
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
}

/** Why, in an error's body, and what OpenRouter was told by the server behind it. */
function reasonOf(body: unknown): string {
  const reason = reasonIn(body);
  const raw = isObject(body) && isObject(body.metadata) ? body.metadata.raw : undefined;
  const behind = raw ? reasonIn(parseJson(textOr(raw)) ?? raw) : '';
  return behind === '' ? reason : `${reason} (${behind})`;
}

/** Servers name it differently, and some put the whole error into a list, or into another one. */
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
  const told = headerOf(error, 'x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  // Whatever a server reports after its answer began is its own trouble, unless it says otherwise.
  if (error.error) return !namesOf(error.error).some((name) => LASTING.test(name));
  // Half a JSON text, or half an event of Bedrock's, was cut on its way.
  return (
    isConnectionLoss(error) ||
    NO_JSON.test(textOr(error.name)) ||
    /^(?:truncated|incomplete)\b.*\bevent\b/i.test(textOr(error.message))
  );
}

/** A client's error without status or body; or what fetch throws: a TypeError, told by its cause or by its words. */
function isConnectionLoss(error: WireObject): boolean {
  if (error.status !== undefined || error.error !== undefined) return false;
  if ('status' in error || NETWORK_CODE.test(textOr(error.code))) return true;
  if (error.name !== 'TypeError' || error.code !== undefined) return false;
  return error.cause !== undefined || FETCH_FAILURE.test(textOr(error.message));
}

/** The clients say "Connection error."; why stands deep inside. */
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

/** Google says it in the body alone: so many seconds. */
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
