import type { JsonRpcMessage } from './json-rpc.js';

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly requestSignal?: AbortSignal | undefined;
}

/**
 * Carries the messages of one connection. A transport starts once and ends once. It implements the transport interface of
 * both SDKs.
 */
export interface McpTransport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined;
  /** Called when a stream broke off. The server may be gone, so the connection pings it. */
  oninterrupted?: (() => void) | undefined;
  readonly protocolVersion: string | undefined;
  /** The reason why the transport ended on its own. Undefined while it is open and after `close`. */
  readonly ending: string | undefined;
  start(): Promise<void>;
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** True if each request has its own HTTP exchange, which is ended when `requestSignal` is aborted. */
  readonly hasPerRequestStream?: boolean;
  close(): Promise<void>;
  setProtocolVersion(version: string): void;
  /** Returns the end of the server's standard error, as part of a message. Empty if there was no output. */
  stderr?(): string;
}

/**
 * Passes a message to the SDK. The SDK handles a notification one microtask after it arrives, but a response at once. So a
 * response is delayed by one microtask; otherwise it would overtake the last progress notification.
 */
export function deliver(message: JsonRpcMessage, to: Pick<McpTransport, 'onmessage' | 'onerror'>): void {
  const pass = () => {
    try {
      to.onmessage?.(message);
    } catch (error) {
      // An error thrown here would be uncaught and end the process.
      to.onerror?.(error as Error);
    }
  };
  if ('method' in message) pass();
  else queueMicrotask(pass);
}

/** True for a revision of the protocol that has no sessions. */
export function isStateless(revision: string | undefined): boolean {
  return revision !== undefined && revision >= '2026-07-28';
}
