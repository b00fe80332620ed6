import { KeelsonError } from '../../errors.js';
import { isObject } from '../../internal/json.js';

export type RequestId = string | number;

/** A request, a notification or a response. */
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

/** A response that reports an error. */
export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Error codes of responses that this client creates, from the range that JSON-RPC reserves for implementations. */
export const TOO_LONG = -32_098;
export const BROKEN_OFF = -32_097;
export const NO_ANSWER = -32_096;

/** A response was longer than the limit. */
export class AnswerTooLongError extends KeelsonError {
  readonly code = 'ERR_MCP_ANSWER_TOO_LONG';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The response has more than ${maxBytes} bytes; raise \`limits.messageBytes\` to read it.`);
    this.maxBytes = maxBytes;
  }
}

/** Creates an error response for a request whose real response cannot be read. */
export function failedAnswer(id: RequestId, code: number, message: string): JsonRpcError {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Creates an error response for a request whose real response is longer than the limit. */
export function tooLongAnswer(id: RequestId, maxBytes: number): JsonRpcError {
  return failedAnswer(id, TOO_LONG, new AnswerTooLongError(maxBytes).message);
}

/**
 * Parses one message, or a batch of messages as one version of the protocol allows it. Drops unknown fields, which the SDK
 * would reject. Returns undefined for anything that is not a message. Does not parse strings without `"jsonrpc"`.
 */
export function readMessages(text: string): readonly (JsonRpcMessage | undefined)[] {
  if (!text.includes('"jsonrpc"')) return [undefined];
  try {
    // The output of some runtimes begins with a byte order mark.
    const read: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return Array.isArray(read) ? read.map(readMessage) : [readMessage(read)];
  } catch {
    return [undefined];
  }
}

function readMessage(fields: unknown): JsonRpcMessage | undefined {
  if (!isObject(fields) || fields.jsonrpc !== '2.0') return undefined;
  const { id, method, params, result, error } = fields;
  const jsonrpc = '2.0';
  const isId = typeof id === 'string' || Number.isInteger(id);
  if (typeof method === 'string') {
    return { jsonrpc, ...(isId && { id: id as RequestId }), method, ...(isObject(params) && { params }) };
  }
  if (!isId) return undefined;
  if (isObject(result)) return { jsonrpc, id: id as RequestId, result };
  const isError = isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
  if (isError) return { jsonrpc, id: id as RequestId, error: error as unknown as JsonRpcError['error'] };
  return failedAnswer(id as RequestId, NO_ANSWER, 'the response has neither a result nor an error');
}

/**
 * Passes a message to the SDK. The SDK handles a notification one microtask after it arrives, but a response at once. So a
 * response is delayed by one microtask; otherwise it would overtake the last progress notification.
 */
export function deliver(message: JsonRpcMessage, to: (message: JsonRpcMessage) => void): void {
  if ('method' in message) to(message);
  else queueMicrotask(() => to(message));
}
