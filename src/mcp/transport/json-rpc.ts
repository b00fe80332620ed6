import { KeelsonError } from '../../errors.js';
import { isObject } from '../../internal/json.js';

export type RequestId = string | number;

export type JsonRpcMessage = JsonRpcCall | JsonRpcResult | JsonRpcError;

/** A request if it has an id, otherwise a notification. */
interface JsonRpcCall {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | undefined;
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown } | undefined;
}

interface JsonRpcResult {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: { readonly [key: string]: unknown };
}

export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Error codes of responses that this client creates, from the range that JSON-RPC reserves for implementations. */
export const TOO_LONG = -32_098;
export const BROKEN_OFF = -32_097;
export const NO_ANSWER = -32_096;
export const NO_CODE = -32_095;

export class AnswerTooLongError extends KeelsonError {
  readonly code = 'ERR_MCP_ANSWER_TOO_LONG';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The response has more than ${maxBytes} bytes; raise \`limits.messageBytes\` to read it.`);
    this.maxBytes = maxBytes;
  }
}

export function failedAnswer(id: RequestId, code: number, message: string): JsonRpcError {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Creates an error response for a request whose real response is longer than the limit. */
export function tooLongAnswer(id: RequestId, maxBytes: number): JsonRpcError {
  return failedAnswer(id, TOO_LONG, new AnswerTooLongError(maxBytes).message);
}

/** Most levels of arrays and objects in a message. Far more levels overflow the stack of code that walks a value. */
const MOST_LEVELS = 500;

/**
 * Parses one message, or an array of messages, which revision 2025-03-26 allows. Returns undefined for anything that is
 * not a message.
 *
 * Removes unknown fields, null fields, an empty cursor, and `_meta` except for the id of a subscription: the SDK would
 * drop the whole message if one of them is invalid. An error without a code or a message gets one. In a message that is
 * nested too deeply, a request loses its parameters, and a response becomes an error.
 */
export function readMessages(text: string): readonly (JsonRpcMessage | undefined)[] {
  try {
    // The output of some runtimes begins with a byte order mark.
    const read: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    const messages = Array.isArray(read) ? read : [read];
    return messages.map((message) => (isDeeper(message, MOST_LEVELS) ? readOutline(message) : readMessage(message)));
  } catch {
    return [undefined];
  }
}

/** True if a value has more levels of arrays and objects. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Reads a message without its parameters, its result and the data of its error. */
function readOutline(fields: unknown): JsonRpcMessage | undefined {
  if (!isObject(fields)) return undefined;
  const { jsonrpc, id, method, error } = fields;
  const message = `the response has more than ${MOST_LEVELS} levels of arrays and objects`;
  const outline = isObject(error) ? { code: error.code, message: error.message } : { code: NO_ANSWER, message };
  return readMessage({ jsonrpc, id, method, error: outline });
}

function readMessage(fields: unknown): JsonRpcMessage | undefined {
  if (!isObject(fields) || fields.jsonrpc !== '2.0') return undefined;
  const { id, method, params, result, error } = fields;
  const jsonrpc = '2.0';
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  if (typeof method === 'string') {
    // The SDK drops a notification that has the key `id`, even with the value undefined.
    const call: JsonRpcCall = isId ? { jsonrpc, id: id as RequestId, method } : { jsonrpc, method };
    return isObject(params) ? { ...call, params: plain(params) } : call;
  }
  if (!isId) return undefined;
  if (isObject(result)) return { jsonrpc, id: id as RequestId, result: plain(result) };
  if ((error ?? undefined) !== undefined) return { jsonrpc, id: id as RequestId, error: wholeError(error) };
  return failedAnswer(id as RequestId, NO_ANSWER, 'the response has neither a result nor an error');
}

/** The key in `_meta` of a notification that names its subscription. */
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Servers send null for a missing field, and an empty cursor on the last page. */
function plain(fields: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta } = fields;
  for (const name in fields) if (name === '_meta' || fields[name] === null) delete fields[name];
  if (isObject(meta) && typeof meta[SUBSCRIPTION] === 'string') fields._meta = { [SUBSCRIPTION]: meta[SUBSCRIPTION] };
  if (fields.nextCursor === '') delete fields.nextCursor;
  return fields;
}

/** Reads the error response in the body of an HTTP response that refused a request. It may lack the id of the request. */
export function errorIn(body: string, id: RequestId): JsonRpcError | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return isObject(error) ? { jsonrpc: '2.0', id, error: wholeError(error) } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns an error with a code and a message, because some servers send an error without a code, or a string. */
export function wholeError(error: unknown): JsonRpcError['error'] {
  const { code, message = error, data } = isObject(error) ? error : {};
  return {
    code: Number.isSafeInteger(code) ? (code as number) : NO_CODE,
    message: typeof message === 'string' ? message : JSON.stringify(message),
    data,
  };
}
