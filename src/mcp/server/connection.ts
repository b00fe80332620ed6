import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { MAX_TIMER_MS } from '../../internal/clock.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { ProcessTransport } from '../transport/process-transport.js';
import type { McpSdk } from '../transport/sdk.js';
import { answerServer, type ServerQuestions } from './questions.js';

/** What a connection tells its owner. */
export interface ConnectionListener extends ServerQuestions {
  /** The connection is over, and was not closed here. */
  onEnd(reason: string): void;
  /** Something came that the protocol does not know. */
  onProblem(error: Error): void;
}

/** One request, and how it is waited for. */
export interface ConnectionRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** Within which there is an answer or progress. Default: none, the caller keeps the time. */
  readonly callMs?: number | undefined;
}

export type McpTransport = ProcessTransport | HttpTransport;

const CLIENT_INFO = { name: 'keelson', version: '0.1.0' };

/** One connection to a server, from the handshake to its end. It does not come back: a new one takes its place. */
export class Connection {
  private readonly client: Client;
  /** While it is made, a failure is told by the handshake. */
  private closing = true;

  private constructor(
    private readonly sdk: McpSdk,
    readonly transport: McpTransport,
    private readonly listener: ConnectionListener,
  ) {
    const client = new sdk.Client(CLIENT_INFO, { capabilities: capabilitiesOf(listener) });
    this.client = client;
    client.onerror = (error) => this.listener.onProblem(error);
    client.onclose = () => {
      if (!this.closing) this.listener.onEnd(this.transport.ending ?? 'the connection was closed');
    };
  }

  /** Connects and shakes hands. The time for it is the caller's to keep: it closes the transport where it is up. */
  static async open(sdk: McpSdk, transport: McpTransport, listener: ConnectionListener): Promise<Connection> {
    const connection = new Connection(sdk, transport, listener);
    answerServer(connection.client, sdk, listener);
    await connection.client.connect(transport, { timeout: MAX_TIMER_MS });
    connection.closing = false;
    return connection;
  }

  get protocolVersion(): string | undefined {
    return this.transport.protocolVersion;
  }

  get capabilities(): ServerCapabilities {
    return this.client.getServerCapabilities() ?? {};
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  /** Asks the server. The answer is as it came, unchecked. */
  request({
    method,
    params,
    signal,
    onProgress,
    callMs,
  }: ConnectionRequest): Promise<Readonly<Record<string, unknown>>> {
    const options = {
      signal,
      ...(callMs === undefined ? { timeout: MAX_TIMER_MS } : { timeout: callMs, resetTimeoutOnProgress: true }),
      ...(onProgress && { onprogress: onProgress }),
    };
    return this.client.request({ method, params }, this.sdk.ResultSchema, options);
  }

  /** Finds out whether the server still answers: where it is gone, the connection ends. */
  probe(timeoutMs: number): void {
    this.client.ping({ timeout: timeoutMs }).catch((error) => {
      if (!this.closing) this.listener.onProblem(error);
    });
  }

  async announceRoots(): Promise<void> {
    await this.client.sendRootsListChanged();
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.transport.close();
  }
}

function capabilitiesOf({ elicit, roots }: ServerQuestions) {
  return {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(roots && { roots: { listChanged: true } }),
  };
}
