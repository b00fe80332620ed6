import { KeelsonError } from '../../errors.js';
import { safeText } from '../../internal/safe-text.js';
import { McpRequestError, McpUnauthorizedError } from '../error.js';
import { describeNetworkError, httpStatusOf } from '../transport/http-exchange.js';
import { BROKEN_OFF, NO_ANSWER, TOO_LONG } from '../transport/json-rpc.js';

const MAX_TEXT = 10_000;
const MAX_DETAILS = 1_000;

/** What the codes of JSON-RPC, of the protocol and of the SDK mean, after the name of the server. */
const MEANINGS: Readonly<Record<number, string>> = {
  [-32_700]: 'could not read the request',
  [-32_600]: 'says that the request is not valid',
  [-32_601]: 'does not know this tool or method',
  [-32_602]: 'does not accept these arguments',
  [-32_603]: 'failed inside',
  [-32_000]: 'reports an error of its own',
  [-32_001]: 'did not answer in time',
  [-32_002]: 'does not have this resource',
  [-32_042]: 'wants the user to open a page first',
  [TOO_LONG]: 'answered with more than may be read',
  [BROKEN_OFF]: 'broke off before it answered',
  [NO_ANSWER]: 'gave an answer that is none',
  400: 'did not understand the request',
  403: 'does not allow this',
  404: 'is not at this address',
  429: 'has had too many requests: try again later',
  500: 'failed inside',
  502: 'is not reachable behind its address: try again later',
  503: 'is not available now: try again later',
  504: 'did not answer its address in time: try again later',
};

/** A failed request in plain words, with what the server says of it. */
export function requestError(server: string, error: unknown): KeelsonError {
  if (error instanceof KeelsonError) return error;
  if (isConnectionClosed(error)) {
    return new McpRequestError(server, `The connection to the MCP server "${server}" was lost.`, { cause: error });
  }
  const status = httpStatusOf(error);
  const mismatch = mismatchIn(error);
  const said = safeText(mismatch ?? stripFrame(describeNetworkError(error)) + detailsOf(error), {
    maxLength: MAX_TEXT,
  });
  if (status === 401) return unauthorizedError(server, said, error);
  const unknown = mismatch === undefined ? 'could not be asked' : MEANINGS[NO_ANSWER];
  const meaning = status === undefined ? unknown : meaningOf(status);
  const code = status === undefined ? '' : ` (${status})`;
  const message = `The MCP server "${server}" ${meaning}${code}${said === '' ? '.' : `: ${said}`}`;
  return new McpRequestError(server, message, { cause: error, ...(status !== undefined && { status }) });
}

function unauthorizedError(server: string, said: string, cause: unknown): McpUnauthorizedError {
  const answer = `it answered with 401${said === '' ? '' : ` and said: ${said}`}`;
  return new McpUnauthorizedError(server, `${answer}; give \`headers\` or \`oauth\`.`, { cause });
}

/** What the SDK's schemas say of an answer, in one line; undefined for anything else. */
function mismatchIn(error: unknown): string | undefined {
  const { issues } = (error ?? {}) as { issues?: unknown };
  if (!(error instanceof Error && Array.isArray(issues))) return undefined;
  const found = issues as readonly { readonly path?: readonly PropertyKey[]; readonly message?: string }[];
  const lines = found.slice(0, 5).map(({ path = [], message }) => [...path.map(String), message].join(': '));
  return lines.join('; ');
}

/** The SDK's word to those who wait for an answer. */
function isConnectionClosed(error: unknown): boolean {
  return error instanceof Error && error.message === 'MCP error -32000: Connection closed';
}

function meaningOf(status: number): string {
  const known = Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : undefined;
  if (known !== undefined) return known;
  if (status <= -32_000 && status >= -32_099) return 'failed in a way of its own';
  if (status >= 300 && status < 400) return 'has another address, which has to be given as its `url`';
  return 'refused the request';
}

/** What a server says beside its message, such as which argument is wrong, or where the user is to go. */
function detailsOf(error: unknown): string {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: unknown };
  // Some servers write an empty text or null where they have nothing to add.
  return typeof code === 'number' && data ? ` ${JSON.stringify(data).slice(0, MAX_DETAILS)}` : '';
}

/** What the SDK puts around the server's own words. */
function stripFrame(text: string): string {
  return text
    .replace(/^MCP error -?\d+: /, '')
    .replace(/^(?:Streamable HTTP error: )?(?:Error POSTing to endpoint(?: \(HTTP \d+\))?: )?/, '')
    .replace(/ \(redirectPolicy: 'same-origin'\)$/, '');
}

/** Any thrown value in a few words for a log or a status. */
export function failureText(error: unknown): string {
  const text = error instanceof KeelsonError ? error.message : (mismatchIn(error) ?? describeNetworkError(error));
  return safeText(text, { maxLength: MAX_TEXT });
}
