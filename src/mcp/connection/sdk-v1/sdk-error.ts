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
