import type { JSONRPCErrorResponse, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { KeelsonError } from '../errors.js';

/** Codes of answers that are made here, in the range that JSON-RPC leaves to implementations. */
export const TOO_LONG = -32_098;
export const BROKEN_OFF = -32_097;

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
export function tooLongAnswer(id: number, maxBytes: number): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: TOO_LONG, message: new AnswerTooLongError(maxBytes).message } };
}

/** What a request gets whose connection broke off. */
export function brokenOffAnswer(id: number): JSONRPCErrorResponse {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: BROKEN_OFF, message: 'The connection broke off before the answer came.' },
  };
}

/**
 * Hands a message to the SDK. It looks at notifications a moment after they came, and at answers at once: an answer waits
 * for that moment, or the last sign of progress would come too late.
 */
export function deliver(message: JSONRPCMessage, to: (message: JSONRPCMessage) => void): void {
  if ('method' in message) to(message);
  else queueMicrotask(() => to(message));
}
