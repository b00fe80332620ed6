import { KeelsonError } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { McpServerDefinition } from '../config/definition.js';
import { McpRequestError, McpSessionLostError } from '../error.js';
import { failureText } from '../server-log.js';
import type { JsonRpcMessage } from '../transport/json-rpc.js';
import { withDeadline } from '../transport/time-limits.js';
import type { McpTransport } from '../transport/transport.js';
import { bounded, isHttpError, keepErrorData, requestError } from './request-error.js';
import { revisionError } from './revision-error.js';
import type { ConnectionOptions, McpAnswer, McpList, McpParams, RequestOptions, SdkRequestOptions } from './sdk.js';
import { ProtocolClient, type SdkChoice } from './sdk-v2/client.js';

const MAX_PROBLEM = 300;
const SESSION_CODE = -32_001;
const HEADER_MISMATCH = -32_020;
/** Time limit in milliseconds of the ping that checks if a server still responds. */
const PROBE_MS = 5_000;

/**
 * One connection to a server, from the handshake to its end. A connection that has ended never reopens. A failed request
 * rejects with a typed error: a TimeoutExceededError after its time limit, or the reason of its abort signal. It rejects
 * with a McpSessionLostError if the server no longer knows the session and therefore did nothing.
 */
export class Connection {
  private readonly client: ProtocolClient;
  private readonly transport: McpTransport;
  private readonly redact: ReturnType<typeof redactOf>;
  /** While `opening`, a failure rejects `open`. Once `open`, the end of the connection calls `onEnd`. */
  private state: 'opening' | 'open' | 'closed' = 'opening';

  private constructor(
    choice: SdkChoice,
    private readonly options: ConnectionOptions,
  ) {
    const { definition } = options;
    const { transport } = choice;
    this.transport = transport;
    this.redact = redactOf(definition);
    transport.onmessage = (message) => {
      if (definition.origin.redact) redactMessage(message, definition.origin.redact);
      keepErrorData(message);
    };
    transport.oninterrupted = () => void this.probe();
    this.client = new ProtocolClient(choice, {
      ...options,
      onError: (error) => this.report(error),
      onClose: () => this.ended(),
    });
  }

  /** Completes the handshake. The caller enforces the time limit, and closes the transport if it is exceeded. */
  static async open(choice: SdkChoice, options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(choice, options);
    try {
      await connection.client.connect();
    } catch (error) {
      const { name, protocol } = options.definition;
      throw revisionError(error, { ...choice, server: name, configured: protocol }) ?? error;
    }
    connection.state = 'open';
    return connection;
  }

  get protocolVersion(): string | undefined {
    return this.transport.protocolVersion;
  }

  get instructions(): string | undefined {
    return this.redact(this.client.instructions);
  }

  /** The reason why the connection ended on its own. Undefined while it is open and after `close`. */
  get ending(): string | undefined {
    return this.redact(this.transport.ending);
  }

  /**
   * Reads all pages of a list and returns the entries. The time limit of one request applies to each page. Returns an
   * empty array of tools if the server declares that it has no tools.
   */
  async list(what: McpList, options: RequestOptions): Promise<readonly unknown[]> {
    if (what !== 'tools') return this.readPages(what, options);
    if (this.client.hasTools) {
      const tools = await this.readPages(what, options);
      return this.client.listed(tools);
    }
    this.options.log.write('info', 'it declares no tools, so its tools are not listed');
    return [];
  }

  async announceRoots(): Promise<void> {
    await this.client.announceRoots().catch((error) => this.report(error));
  }

  /** Pending requests fail at once. Resolves when the process or the streams of the connection have ended. */
  async close(): Promise<void> {
    this.state = 'closed';
    await this.transport.close();
  }

  async request(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer> {
    try {
      return await this.send(method, params, options);
    } catch (error) {
      if (method !== 'tools/call' || (error as McpRequestError).status !== HEADER_MISMATCH) throw error;
      // The server has not run the call, because it now wants other arguments in headers.
      this.options.onToolsChanged();
      await this.list('tools', options);
      return await this.send(method, params, options);
    }
  }

  /** Reads all pages of a list. Stops with a warning at a limit, or if the cursor of the next page is invalid. */
  private async readPages(what: McpList, options: RequestOptions): Promise<readonly unknown[]> {
    const { settings, log } = this.options;
    const { tools: maxEntries, messageBytes: maxSize } = settings.limits;
    const method = what === 'resourceTemplates' ? 'resources/templates/list' : `${what}/list`;
    const entries: unknown[] = [];
    const stop = (problem: string) => {
      log.write('warn', `${method} ${problem}`);
      return entries.slice(0, maxEntries);
    };
    const cursors = new Set<unknown>();
    let size = 0;
    for (let params = {}; ; ) {
      const { [what]: found, nextCursor } = await this.request(method, params, options);
      if (!Array.isArray(found)) return stop(`must return an array \`${what}\`; reading stops`);
      size += JSON.stringify(found).length;
      if (size > maxSize)
        return stop(`returned entries of more than ${maxSize} characters; this page and the rest are ignored`);
      for (const entry of found.slice(0, maxEntries + 1)) entries.push(entry);
      if (entries.length > maxEntries)
        return stop(`returned more than ${maxEntries} entries; the rest is ignored (see \`limits.tools\`)`);
      if (nextCursor === undefined) return entries;
      if (found.length === 0) return stop('returned an empty page with a cursor; reading stops');
      if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) {
        const cursor = JSON.stringify(nextCursor);
        return stop(`returned the cursor ${cursor}, which is invalid or was used before; reading stops`);
      }
      cursors.add(nextCursor);
      params = { cursor: nextCursor };
    }
  }

  private async send(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer> {
    const { definition, settings, hold } = this.options;
    const { signal, limitMs, onProgress } = options;
    const { timeouts } = settings;
    const what = `request ${method} to MCP server "${definition.name}"`;
    const totalMs = limitMs ?? timeouts.totalMs;
    const callMs = Math.min(limitMs ?? definition.callTimeoutMs ?? timeouts.callMs, totalMs);
    try {
      return await withDeadline({ what, callMs, totalMs, hold, signal }, (own, touch) =>
        this.client.request(method, params, {
          signal: own,
          onProgress: (progress) => {
            touch();
            onProgress?.(shortened(progress));
          },
        }),
      );
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.failureOf(this.redact(error));
    }
  }

  /** Returns the error of a failed request. If the connection has ended, the error reports that end. */
  private failureOf(error: unknown): KeelsonError {
    const { definition } = this.options;
    const { name } = definition;
    const { ending } = this;
    if (error instanceof McpSessionLostError) return error;
    if (ending === undefined && this.state !== 'closed') {
      const failure = requestError(name, error);
      if (definition.transport !== 'stdio' && isSessionUnknown(failure)) this.sessionLost();
      return failure;
    }
    const why = ending === undefined ? '.' : `: ${failureText(ending)}`;
    return new McpRequestError(name, `The connection to the MCP server "${name}" was lost${why}`, { cause: error });
  }

  /** Ends the connection, so that the next request gets a new session. The server may have processed the request. */
  private sessionLost(): void {
    this.options.onEnd('the server no longer knows the session');
    void this.close();
  }

  private ended(): void {
    if (this.state !== 'open') return;
    this.options.onEnd(this.ending ?? 'the connection was closed');
  }

  /** Pings the server. The transport ends if the server cannot be reached. */
  private async probe(): Promise<void> {
    await this.client.ping(PROBE_MS).catch((error) => this.state === 'open' && this.report(error));
  }

  /**
   * Logs a problem of the protocol. Errors of the SDK get the level debug, since the SDK also reports harmless late
   * messages. HTTP errors of the handshake get this level too, because the handshake then rejects or continues over
   * SSE.
   */
  private report(error: unknown): void {
    const isOfHandshake = this.state !== 'open' && isHttpError(error);
    const level = error instanceof KeelsonError && !isOfHandshake ? 'warn' : 'debug';
    this.options.log.write(level, safeText(failureText(this.redact(error)), { maxLength: MAX_PROBLEM }));
  }
}

/** Returns the function that removes secrets from everything that a server sends. Errors keep their class. */
export function redactOf({ origin }: McpServerDefinition): <Value>(value: Value) => Value {
  return origin.redact ?? ((value) => value);
}

function redactMessage(message: JsonRpcMessage, redact: ReturnType<typeof redactOf>): void {
  for (const [name, part] of Object.entries(message)) {
    if (!isObject(part)) continue;
    // Numbers of the protocol stay unchanged, even if they contain the digits of a secret.
    const { code, progressToken, requestId } = part;
    const numbers = Object.entries({ code, progressToken, requestId }).filter(([, it]) => typeof it === 'number');
    Object.assign(message, { [name]: { ...redact(part), ...Object.fromEntries(numbers) } });
  }
}

/** Some servers report an unknown session in a response with status 200, with the code that the SDK uses for it. */
function isSessionUnknown(failure: KeelsonError): boolean {
  return failure instanceof McpRequestError && failure.status === SESSION_CODE && /session/i.test(failure.message);
}

function shortened(progress: Parameters<SdkRequestOptions['onProgress']>[0]): unknown {
  const { message } = progress;
  return message === undefined ? progress : { ...progress, message: bounded(message) };
}
