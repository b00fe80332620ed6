import type { JsonRpcMessage, RequestId } from './json-rpc.js';

const MAX_OPEN = 100;

/**
 * What a server has asked, and was not answered. One that asks on and on without reading what it is told would have the
 * answers pile up here.
 */
export class PendingServerRequests {
  private readonly ids = new Set<RequestId>();

  /** Takes note of what came. Says why the connection has to end, where it has. */
  problemOf(message: JsonRpcMessage): string | undefined {
    if (!('method' in message)) return undefined;
    if (message.method === 'notifications/cancelled') this.ids.delete(message.params?.requestId as RequestId);
    if (message.id === undefined) return undefined;
    if (this.ids.has(message.id)) return `it asked two things at once under the id ${JSON.stringify(message.id)}`;
    if (this.ids.size === MAX_OPEN) return `it asked more than ${MAX_OPEN} things without waiting for an answer`;
    this.ids.add(message.id);
    return undefined;
  }

  /** Takes note of an answer, once the server has it. */
  answered(message: JsonRpcMessage): void {
    if (!('method' in message) && message.id !== undefined) this.ids.delete(message.id);
  }
}
