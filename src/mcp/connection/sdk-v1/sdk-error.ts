import { TimeoutExceededError } from '../../../errors.js';
import type { JsonRpcMessage } from '../../transport/json-rpc.js';
import { ServerWords } from '../request-error.js';

/**
 * Keeps the words of an answer that reports a failure apart, in its data: the SDK writes its own words around them, and
 * makes errors of the same kind by itself.
 */
export function ownWords(message: JsonRpcMessage): void {
  if (!('error' in message)) return;
  const { error } = message;
  Object.assign(error, { data: new ServerWords(error.message, error.data) });
}

/** Returns the error for the SDK's own limit of time. Undefined for anything else, such as a server's error of that code. */
export function timeoutOf(what: string, error: unknown): TimeoutExceededError | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { timeout?: unknown } };
  const ms = data?.timeout;
  return code === -32_001 && typeof ms === 'number' ? new TimeoutExceededError(what, ms) : undefined;
}
