import { KeelsonError } from '../../errors.js';
import { isObject } from '../../internal/json.js';

export type RequestId = string | number;

/** A request, a notification or an answer. */
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

/** An answer that reports a failure. */
export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Codes of answers that are made here, in the range that JSON-RPC leaves to implementations. */
export const TOO_LONG = -32_098;
export const BROKEN_OFF = -32_097;
export const NO_ANSWER = -32_096;

/** An answer was longer than may be read. */
export class AnswerTooLongError extends KeelsonError {
  readonly code = 'ERR_MCP_ANSWER_TOO_LONG';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The answer has more than ${maxBytes} bytes, which is what may be read.`);
    this.maxBytes = maxBytes;
  }
}

/** Returns the answer that a request gets when the server's own cannot be read. */
export function failedAnswer(id: RequestId, code: number, message: string): JsonRpcError {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Returns the answer that a request gets when the server's own is longer than may be read. */
export function tooLongAnswer(id: RequestId, maxBytes: number): JsonRpcError {
  return failedAnswer(id, TOO_LONG, new AnswerTooLongError(maxBytes).message);
}

/**
 * Reads a message, or a batch of them as one version of the protocol has it. Fields that the protocol does not know are left
 * out: the SDK refuses them. Gives undefined for anything that is not a message, and is fast when nothing is.
 */
export function readMessages(text: string): readonly (JsonRpcMessage | undefined)[] {
  if (!text.includes('"jsonrpc"')) return [undefined];
  try {
    // Some runtimes begin their output with a byte order mark.
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
  return failedAnswer(id as RequestId, NO_ANSWER, 'it has neither a result nor an error');
}

/**
 * Hands a message to the SDK. It looks at notifications a moment after they came, and at answers at once: an answer waits
 * for that moment, or the last sign of progress would come too late.
 */
export function deliver(message: JsonRpcMessage, to: (message: JsonRpcMessage) => void): void {
  if ('method' in message) to(message);
  else queueMicrotask(() => to(message));
}
