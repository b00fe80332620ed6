import { safeText } from '../../internal/safe-text.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { variablesOf } from '../config/trust-item.js';
import type { Connection } from '../connection/connection.js';
import { Endings } from '../connection/endings.js';
import { requestError } from '../connection/request-error.js';
import { inRequestTime, untilAborted } from '../connection/request-time.js';
import { McpSessionLostError, McpUnavailableError } from '../error.js';
import type { McpEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import type { LogLimiter } from '../log-limiter.js';
import type { McpTool } from '../tools/mcp-tool.js';
import { AuthorizationPendingError } from '../transport/authorization.js';
import { PausableClock } from '../transport/pausable-clock.js';
import { Link, type LinkChange } from './link.js';
import type { McpServerStatus } from './status.js';
import { ToolOffer } from './tool-offer.js';

/** The pool that a server belongs to. */
export interface McpServerHost {
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  /** The server's tools are not the same as before. */
  readonly onTools: () => void;
  readonly emit: (event: McpEvent) => void;
}

/** One server through all of its connections. */
export class McpServer {
  readonly link: Link;
  private readonly offer: ToolOffer;
  private readonly hold: PausableClock;
  private readonly endings: Endings;
  /** The last connection whose session the server has forgotten: requests on their way on it may still end. */
  private retired: Connection | undefined = undefined;

  constructor(
    readonly definition: McpServerDefinition,
    private readonly host: McpServerHost,
  ) {
    this.hold = new PausableClock(host.settings.system.clock);
    this.endings = new Endings((error) => host.log.write('warn', failureText(error)));
    const { hold, endings } = this;
    this.offer = new ToolOffer({
      ...{ ...host, definition },
      call: ({ name }, input, { signal, progress }) =>
        this.request((connection) => connection.callTool(name, input, { signal, onProgress: progress }), signal),
    });
    this.link = new Link({ ...host, definition, hold, endings, onChange: (change) => this.changed(change) });
  }

  get tools(): readonly McpTool[] {
    return this.offer.tools;
  }

  status(): McpServerStatus {
    const { name, transport, origin } = this.definition;
    const { state, lastError, connections, established } = this.link;
    const { instructions } = established?.connection ?? {};
    return {
      ...{
        name,
        state,
        lastError,
        reconnects: Math.max(0, connections - 1),
        scope: origin.scope,
        source: origin.source,
      },
      transport: established?.transport ?? transport,
      protocolVersion: established?.connection.protocolVersion,
      instructions: instructions && safeText(instructions, { maxLength: this.host.settings.limits.descriptionLength }),
      tools: this.tools.map((tool) => tool.name),
      toolCount: this.tools.length,
      reads: variablesOf(this.definition),
    };
  }

  /**
   * Asks the server on its connection, after the next attempt if there is none. A server that has forgotten the session
   * has not done it, so it is asked once more on a new connection. Rejects with a typed error.
   */
  async request<T>(ask: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { link } = this;
    const connection = link.established?.connection ?? (await this.connected(signal));
    link.used();
    try {
      return await ask(connection);
    } catch (error) {
      if (!(error instanceof McpSessionLostError)) throw error;
      this.retire(connection, error);
      void link.connect();
      return ask(await this.connected(signal));
    }
  }

  /** Hands over the code that the user came back with, and connects. */
  async finishAuthorization(code: string): Promise<void> {
    const { name } = this.definition;
    const { failure } = this.link;
    if (!(failure instanceof AuthorizationPendingError)) {
      throw new McpUnavailableError(name, 'it waits for no authorization.');
    }
    await failure.finish(code).catch((error) => {
      throw requestError(name, error);
    });
    await this.link.connect();
  }

  announceRoots(): void {
    void this.link.established?.connection.announceRoots();
  }

  /** Requests on their way fail at once. Resolves when nothing of the server is left. */
  async close(): Promise<void> {
    this.link.close();
    if (this.retired) this.endings.add(this.retired.close());
    await this.endings.settled();
  }

  /** Waits for a connection, as long as a request may take. */
  private connected(signal: AbortSignal | undefined): Promise<Connection> {
    const { name, callTimeoutMs } = this.definition;
    const { callMs, totalMs } = this.host.settings.timeouts;
    const time = { what: `wait for MCP server "${name}"`, callMs: callTimeoutMs ?? callMs, totalMs };
    return inRequestTime({ ...time, hold: this.hold, signal }, (scope) =>
      untilAborted(scope.signal, this.link.connected()),
    );
  }

  private retire(connection: Connection, { message }: McpSessionLostError): void {
    if (this.link.established?.connection === connection) this.retired = connection;
    this.link.lost(connection, message);
  }

  private changed(change: LinkChange): void {
    if (change.type === 'up') this.offer.begin(change.established);
    else if (change.type === 'down') this.offer.withdraw();
    else this.offer.changed();
  }
}
