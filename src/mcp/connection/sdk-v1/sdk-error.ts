import type { JsonRpcMessage } from '../../transport/json-rpc.js';
import { bounded, ServerWords } from '../request-error.js';

/**
 * Stores the server's message and data in the `data` field of an error response. The SDK adds text to the message. The SDK
 * also creates errors of the same class for its own failures, which have no such data.
 */
export function ownWords(message: JsonRpcMessage): void {
  if (!('error' in message)) return;
  const { error } = message;
  const words = bounded(error.message);
  Object.assign(error, { message: words, data: new ServerWords(words, error.data) });
}
