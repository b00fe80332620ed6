import { describeError, KeelsonError } from '../../errors.js';
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

/** What a request gets whose answer was too long to be read. */
export function tooLongAnswer(id: number, maxBytes: number): JsonRpcError {
  return { jsonrpc: '2.0', id, error: { code: TOO_LONG, message: new AnswerTooLongError(maxBytes).message } };
}

/** What a request gets whose connection broke off. */
export function brokenOffAnswer(id: number): JsonRpcError {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: BROKEN_OFF, message: 'The connection broke off before the answer came.' },
  };
}

/** What a request gets whose answer is none. */
export function noAnswer(id: RequestId, problem: string): JsonRpcError {
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message: problem } };
}

/** A text as a message, or what is wrong with it, and which request it should have answered. */
export type MessageReading =
  | { readonly message: JsonRpcMessage }
  | { readonly problem: string; readonly answers?: RequestId | undefined };

/**
 * Reads a message, or a batch of them, which one version of the protocol has: what is in it beside what the protocol knows
 * is left out. Cheap where a text is none of them.
 */
export function readMessages(text: string): readonly MessageReading[] {
  if (!text.includes('"jsonrpc"')) return [{ problem: 'it is not of JSON-RPC' }];
  try {
    // Some runtimes begin their output with a byte order mark.
    const read: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return Array.isArray(read) ? read.map(readMessage) : [readMessage(read)];
  } catch (error) {
    return [{ problem: describeError(error) }];
  }
}

function readMessage(fields: unknown): MessageReading {
  return isObject(fields) && fields.jsonrpc === '2.0' ? messageOf(fields) : { problem: 'it is not of JSON-RPC 2.0' };
}

function messageOf({ id, method, params, result, error }: Fields): MessageReading {
  const isId = typeof id === 'string' || Number.isInteger(id);
  const jsonrpc = '2.0';
  if (typeof method === 'string') {
    if (!isId && (id ?? undefined) !== undefined) return { problem: 'its id is neither a text nor a whole number' };
    if (!isObject(params ?? {})) return { problem: 'its params are no object' };
    return messageFrom({ jsonrpc, ...(isId && { id }), method, ...(isObject(params) && { params }) });
  }
  if (!isId) return { problem: 'it has no method, and no id of a request' };
  if (isObject(result)) return messageFrom({ jsonrpc, id, result });
  const isError = isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
  if (isError) return messageFrom({ jsonrpc, id, error });
  return { problem: 'it has neither a result nor an error', answers: id as RequestId };
}

function messageFrom(fields: Fields): MessageReading {
  return { message: fields as unknown as JsonRpcMessage };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Hands a message to the SDK. It looks at notifications a moment after they came, and at answers at once: an answer waits
 * for that moment, or the last sign of progress would come too late.
 */
export function deliver(message: JsonRpcMessage, to: (message: JsonRpcMessage) => void): void {
  if ('method' in message) to(message);
  else queueMicrotask(() => to(message));
}
