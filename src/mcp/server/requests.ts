import { systemClock } from '../../internal/clock.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { McpRequestError, McpSessionLostError } from '../error.js';
import type { PausableClock } from '../transport/pausable-clock.js';
import { inRequestTime, PlainScope, type RequestScope, sdkTimeout, untilAborted } from '../transport/request-time.js';
import type { Connection } from './connection.js';
import type { ConnectionManager } from './connection-manager.js';
import { failureText, requestError } from './failure-text.js';
import { readPages } from './list-pages.js';
import type { LogLimiter } from './log-limiter.js';

/** One request to a server. */
export interface ServerRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

type Answer = Readonly<Record<string, unknown>>;
type CallTime = { readonly what: string; readonly callMs: number; readonly totalMs: number };

/** What requests are made with. */
export interface RequestsOwner {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  readonly link: ConnectionManager;
  readonly hold: PausableClock;
  /** The server has forgotten the session of a connection. */
  retire(connection: Connection, error: McpSessionLostError): void;
}

/** What is asked of one server: in its time, on whatever connection there is, once more where a session was forgotten. */
export class ServerRequests {
  private readonly isPlain: boolean;
  private readonly open = new Set<AbortController>();

  constructor(private readonly owner: RequestsOwner) {
    const { elicit, oauth, system } = owner.settings;
    // Where a person may be asked, or time is not the machine's, the SDK cannot keep it.
    this.isPlain = !elicit && !oauth && system.clock === systemClock;
  }

  /** Asks the server, after the next attempt where it is not connected. Rejects with a typed error. */
  async request(request: ServerRequest): Promise<Answer> {
    const { timeouts } = this.owner.settings;
    const { name, callTimeoutMs: callMs = timeouts.callMs } = this.owner.definition;
    const what = `request ${request.method} to MCP server "${name}"`;
    const time = { what, callMs: Math.min(callMs, timeouts.totalMs), totalMs: timeouts.totalMs };
    try {
      const connection = this.owner.link.established?.connection;
      if (connection !== undefined && this.isPlain) return await this.askPlainly(connection, request, time);
      return await this.inTime(request, time, (scope) => this.ask(request, scope));
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      throw sdkTimeout(what, error) ?? requestError(name, error);
    }
  }

  /** All entries of a list, such as those of `prompts/list`. */
  list(method: string, field: string, signal: AbortSignal | undefined): Promise<readonly unknown[]> {
    const { limits } = this.owner.settings;
    return readPages({
      ...{ method, field, maxEntries: limits.tools, maxPages: limits.pages },
      request: (_method, params) => this.request({ method, params, signal }),
      warn: (problem) => this.owner.log.write('warn', problem),
    });
  }

  /** What is under way fails. */
  abort(reason: Error): void {
    for (const controller of this.open) controller.abort(reason);
  }

  /** The short way: the SDK keeps the time. */
  private async askPlainly(connection: Connection, request: ServerRequest, time: CallTime): Promise<Answer> {
    const { hold, link } = this.owner;
    const { clock } = hold;
    const scope = new PlainScope({ ...time, clock, signal: request.signal }, time.callMs);
    try {
      return await this.send(connection, request, scope);
    } catch (error) {
      scope.throwIfAborted();
      this.throwIfOver(connection, error);
      if (!(error instanceof McpSessionLostError)) throw error;
      void link.connect();
      return await this.inTime(request, time, (scope) => this.askOnce(request, scope));
    } finally {
      scope.end();
    }
  }

  private inTime<T>({ signal }: ServerRequest, time: CallTime, work: (scope: RequestScope) => Promise<T>): Promise<T> {
    const { open, owner } = this;
    return inRequestTime({ ...time, hold: owner.hold, open, signal }, work);
  }

  /** A server that has forgotten the session has not done it, so it is asked once more. */
  private async ask(request: ServerRequest, scope: RequestScope): Promise<Answer> {
    try {
      return await this.askOnce(request, scope);
    } catch (error) {
      if (!(error instanceof McpSessionLostError)) throw error;
      void this.owner.link.connect();
      return this.askOnce(request, scope);
    }
  }

  private async askOnce(request: ServerRequest, scope: RequestScope): Promise<Answer> {
    const connection =
      this.owner.link.established?.connection ?? (await untilAborted(scope.signal, this.owner.link.connected()));
    return this.askOn(connection, request, scope);
  }

  private async askOn(connection: Connection, request: ServerRequest, scope: RequestScope): Promise<Answer> {
    try {
      return await this.send(connection, request, scope);
    } catch (error) {
      this.throwIfOver(connection, error);
      throw error;
    }
  }

  private send(
    connection: Connection,
    { method, params, onProgress }: ServerRequest,
    { signal, touch, callMs }: RequestScope & { readonly callMs?: number },
  ): Promise<Answer> {
    this.owner.link.used();
    return connection.request({
      ...{ method, params, signal, callMs },
      onProgress: (progress) => {
        touch();
        onProgress?.(progress);
      },
    });
  }

  /** Where the connection is over, that is what is to be said; a session that was forgotten is another matter. */
  private throwIfOver(connection: Connection, error: unknown): void {
    if (error instanceof McpSessionLostError) return this.owner.retire(connection, error);
    const { ending } = connection.transport;
    if (ending === undefined) return;
    const { name } = this.owner.definition;
    const message = `The connection to the MCP server "${name}" was lost: ${failureText(ending)}`;
    throw new McpRequestError(name, message, { cause: error });
  }
}
