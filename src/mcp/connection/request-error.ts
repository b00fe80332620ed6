import { KeelsonError } from '../../errors.js';
import { safeText } from '../../internal/safe-text.js';
import { McpRequestError, McpUnauthorizedError } from '../error.js';
import { describeWithCause, withoutPages } from '../server-log.js';
import { HttpStatusError, HttpUnreachableError } from '../transport/http-client.js';
import { BROKEN_OFF, type JsonRpcMessage, NO_ANSWER, NO_CODE, TOO_LONG } from '../transport/json-rpc.js';

const MAX_TEXT = 10_000;
const MAX_DETAILS = 1_000;
/** The longest quote of a server. A message that was cut before fits, so the length that it states stays right. */
const MAX_QUOTE = MAX_TEXT + 2 * MAX_DETAILS;

/** Explains status codes of JSON-RPC, MCP, the SDK and HTTP. Each string follows the name of the server in a message. */
const MEANINGS: Readonly<Record<number, string>> = {
  [-32_700]: 'could not read the request',
  [-32_600]: 'says that the request is not valid',
  [-32_601]: 'does not know this tool or method',
  [-32_602]: 'does not accept these arguments',
  [-32_603]: 'had an internal error',
  [-32_000]: 'reports a server error',
  [-32_001]: 'could not handle the request',
  [-32_002]: 'does not have this resource',
  [-32_042]: 'wants the user to open a page first',
  [TOO_LONG]: 'sent a response above the size limit',
  [BROKEN_OFF]: 'disconnected before it answered',
  [NO_ANSWER]: 'sent an invalid response',
  [NO_CODE]: 'reports an error without a code',
  400: 'did not understand the request',
  403: 'does not allow this',
  404: 'was not found at its URL',
  429: 'received too many requests; try again later',
  500: 'had an internal error',
  502: 'is not reachable behind its gateway; try again later',
  503: 'is not available now; try again later',
  504: 'did not answer its gateway in time; try again later',
};

/**
 * The message and the data of a server's error response, without the text that the SDK adds to them. Data of more than
 * 10,000 characters is cut to a string.
 */
class ServerErrorData {
  readonly data: unknown;

  constructor(
    readonly message: string,
    data: unknown,
  ) {
    const json = JSON.stringify(data) ?? '';
    this.data = json.length > MAX_TEXT ? bounded(json) : data;
  }
}

/**
 * Stores the server's message and data in the `data` field of an error response, because the SDK adds text to the
 * message. An error without this field was created by the SDK itself.
 */
export function keepErrorData(message: JsonRpcMessage): void {
  if (!('error' in message)) return;
  const { error } = message;
  const text = bounded(error.message);
  Object.assign(error, { message: text, data: new ServerErrorData(text, error.data) });
}

export function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;
}

/** Converts the failure of a request into a typed error. Its message explains the status code and quotes the server. */
export function requestError(server: string, error: unknown): KeelsonError {
  if (error instanceof KeelsonError && !isHttpError(error)) return error;
  const { status, meaning, text } = describe(error);
  const quote = safeText(withoutPages(text), { maxLength: MAX_QUOTE });
  if (status === 401) {
    const answer = `it answered with status 401${quote === '' ? '' : ` and said: ${quote}`}`;
    return new McpUnauthorizedError(server, `${answer}; set \`headers\` or \`oauth\`.`, { cause: error });
  }
  const code = status === undefined ? '' : ` (${status})`;
  const message = `The MCP server "${server}" ${meaning}${code}${quote === '' ? '.' : `: ${quote}`}`;
  const cause = error instanceof HttpStatusError ? new HttpStatusError(error.status, bounded(error.detail)) : error;
  return new McpRequestError(server, message, status === undefined ? { cause } : { cause, status });
}

export function isHttpError(error: unknown): boolean {
  return error instanceof HttpStatusError || error instanceof HttpUnreachableError;
}

interface Description {
  readonly status?: number;
  readonly meaning: string;
  readonly text: string;
}

function describe(error: unknown): Description {
  if (error instanceof HttpStatusError) {
    return { status: error.status, meaning: meaningOf(error.status), text: error.detail };
  }
  if (error instanceof HttpUnreachableError) return { meaning: 'could not be reached', text: error.message };
  const { code, data, issues } = (error ?? {}) as { code?: unknown; data?: unknown; issues?: unknown };
  if (data instanceof ServerErrorData && typeof code === 'number') {
    return { status: code, meaning: meaningOf(code), text: data.message + detailsOf(data) };
  }
  if (Array.isArray(issues)) return { meaning: meaningOf(NO_ANSWER), text: mismatchIn(issues) };
  return { meaning: 'gave no usable response', text: describeWithCause(error) };
}

function mismatchIn(issues: readonly { readonly path?: readonly PropertyKey[]; readonly message?: string }[]): string {
  return issues
    .slice(0, 5)
    .map(({ path = [], message }) => [...path.map(String), message].join(': '))
    .join('; ');
}

function meaningOf(status: number): string {
  const known = Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : undefined;
  if (known !== undefined) return known;
  if (status <= -32_000 && status >= -32_099) return 'reports an error with its own code';
  if (status >= 300 && status < 400) return 'redirects to another URL; set that as its `url`';
  return 'refused the request';
}

function detailsOf({ data }: ServerErrorData): string {
  // Some servers write an empty string or null if they have nothing to add.
  return data ? ` ${JSON.stringify(data).slice(0, MAX_DETAILS)}` : '';
}
