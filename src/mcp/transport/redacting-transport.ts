import { isObject } from '../../internal/json.js';
import type { JsonRpcMessage } from './json-rpc.js';
import type { McpTransport } from './transport.js';

/** Returns a copy of a value without secrets. Errors keep their class. */
export type Redact = <Value>(value: Value) => Value;

/** Fields that the protocol compares or counts. A secret that consists of digits must not change them. */
const PROTOCOL_FIELDS = ['code', 'progressToken', 'requestId'] as const;

/**
 * Redacts all data that a server sends over another transport: messages, errors, the standard error and the reason of
 * the end. Messages to the server are unchanged.
 */
export class RedactingTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  oninterrupted: (() => void) | undefined = undefined;

  constructor(
    private readonly inner: McpTransport,
    private readonly redact: Redact,
  ) {
    inner.onclose = () => this.onclose?.();
    inner.oninterrupted = () => this.oninterrupted?.();
    inner.onerror = (error) => this.onerror?.(redact(error));
    inner.onmessage = (message) => this.onmessage?.(this.redacted(message));
  }

  get hasSession(): boolean | undefined {
    return this.inner.hasSession;
  }

  get protocolVersion(): string | undefined {
    return this.inner.protocolVersion;
  }

  get ending(): string | undefined {
    return this.redact(this.inner.ending);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    try {
      await this.inner.send(message);
    } catch (error) {
      throw this.redact(error);
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  stderr(): string {
    return this.redact(this.inner.stderr?.() ?? '');
  }

  private redacted(message: JsonRpcMessage): JsonRpcMessage {
    const parts = Object.entries(message).map(([name, value]) => [name, isObject(value) ? this.part(value) : value]);
    return Object.fromEntries(parts) as JsonRpcMessage;
  }

  /** Redacts the `params`, `result` or `error` of a message. */
  private part(value: Readonly<Record<string, unknown>>): object {
    const kept = PROTOCOL_FIELDS.filter((name) => typeof value[name] === 'number').map((name) => [name, value[name]]);
    return { ...this.redact(value), ...Object.fromEntries(kept) };
  }
}
