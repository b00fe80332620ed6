import type { JsonRpcMessage } from './json-rpc.js';

/**
 * Carries the messages of one connection. It starts once and ends once; a new transport takes its place. It has the shape
 * that `@modelcontextprotocol/sdk` expects of a transport.
 */
export interface McpTransport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined;
  /** Called when the server may be gone: the connection should ping it. */
  ondoubt?: (() => void) | undefined;
  readonly protocolVersion: string | undefined;
  /** The reason why the transport has ended by itself. Undefined while it is open and after `close`. */
  readonly ending: string | undefined;
  start(): Promise<void>;
  send(message: JsonRpcMessage): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion(version: string): void;
  /** The end of the server's standard error, as a part of a message; empty if there is none. */
  stderr?(): string;
}
