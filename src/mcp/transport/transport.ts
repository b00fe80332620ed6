import type { JsonRpcMessage } from './json-rpc.js';

/**
 * Carries the messages of one connection. A transport starts once and ends once. It implements the transport interface of
 * `@modelcontextprotocol/sdk`.
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
  send(message: JsonRpcMessage): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion(version: string): void;
  /** Returns the end of the server's standard error, as part of a message. Empty if there was no output. */
  stderr?(): string;
}
