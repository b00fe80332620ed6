import { withinMs } from '../../internal/clock.js';
import { createDeferred, type Deferred } from '../../internal/promise.js';
import { safeText } from '../../internal/safe-text.js';
import type { ToolResult } from '../../tools/tool.js';
import type { McpServerDefinition } from '../config/definition.js';
import { variablesOf } from '../config/trust-item.js';
import type { Connection } from '../connection/connection.js';
import { requestError } from '../connection/request-error.js';
import { McpRequestError, McpSessionLostError, McpUnavailableError } from '../error.js';
import { failureText } from '../server-log.js';
import type { CallContext, McpTool } from '../tools/mcp-tool.js';
import { AuthorizationPendingError } from '../transport/authorization.js';
import { PausableClock, withDeadline } from '../transport/time-limits.js';
import { Endings, type ServerContext } from './context.js';
import { Link } from './link.js';
import { type McpServerStatus, statusOf } from './status.js';
import { ServerTools } from './tool-list.js';
import { ToolPins } from './tool-pins.js';

const INVALID_PARAMS = -32_602;

export interface McpServerHost extends Pick<ServerContext, 'settings' | 'log' | 'emit' | 'onTools'> {
  readonly ignored: readonly string[];
}

export class McpServer {
  readonly link: Link;
  ignored: readonly string[];
  private readonly offered: ServerTools;
  private readonly context: ServerContext;
  private underWay = 0;
  private whenIdle: Deferred<void> | undefined = undefined;

  constructor(
    readonly definition: McpServerDefinition,
    host: McpServerHost,
  ) {
    this.ignored = host.ignored;
    const own = { ...host, definition, hold: new PausableClock(host.settings.system.clock) };
    const endings = new Endings((error) => host.log.write('warn', failureText(error)));
    this.context = { ...own, endings, pins: new ToolPins(own) };
    this.offered = new ServerTools(this.context, async (name, input, { signal, progress, limitMs }) => {
      const options = { signal, onProgress: progress, limitMs };
      const params = { name, arguments: input };
      const answer = await this.request((it) => it.request('tools/call', params, options), signal);
      // If the server announced a change of its tools before the result, the next turn has the changed tools.
      await this.offered.rereads.catchUp();
      return answer;
    });
    this.link = new Link(this.context, this.offered);
  }

  get hold(): PausableClock {
    return this.context.hold;
  }

  get tools(): readonly McpTool[] {
    return this.offered.tools;
  }

  status(): McpServerStatus {
    const { state, step, lastError, connections, established } = this.link;
    const { instructions, protocolVersion } = established?.connection ?? {};
    const { descriptionLength } = this.context.settings.limits;
    const tools = this.tools.map((tool) => tool.name);
    return statusOf(this.definition, {
      ...{ state, step, lastError, protocolVersion, tools, toolCount: tools.length, ignoredFields: this.ignored },
      reconnects: Math.max(0, connections - 1),
      transport: established?.transport ?? this.definition.transport,
      instructions: instructions && safeText(instructions, { maxLength: descriptionLength }),
      reads: variablesOf(this.definition),
    });
  }

  /**
   * Connects, and waits as `waitForServers` says. A server that the option does not name has `readyMs`, which begin after
   * the decision of the trust gate. Never rejects.
   */
  async connect(): Promise<void> {
    const { waitForServers, timeouts, system } = this.context.settings;
    const attempt = this.link.connect();
    const { name } = this.definition;
    const isAwaited = typeof waitForServers === 'boolean' ? waitForServers : waitForServers.includes(name);
    if (isAwaited) return attempt;
    await this.link.approval.asked;
    await withinMs(attempt, timeouts.readyMs, system.clock);
  }

  /**
   * Sends a request over the current connection, or waits for the next connection. A server that no longer knows the
   * MCP session did nothing, so the request is sent once more over a new connection. Rejects with a typed error.
   */
  async request<T>(ask: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { link } = this;
    let connection = link.established?.connection;
    this.underWay += 1;
    try {
      connection ??= await this.connected(signal);
      // Frequent use must not exhaust the attempts.
      link.attempts.failures = 0;
      return await ask(connection);
    } catch (error) {
      if (!(error instanceof McpSessionLostError) || connection === undefined) throw error;
      link.lost(connection, error.message);
      void link.connect();
      return await ask(await this.connected(signal));
    } finally {
      this.underWay -= 1;
      if (this.underWay === 0) this.whenIdle?.resolve();
    }
  }

  /** Rejects with a typed error, or with the reason of the abort signal. */
  async callTool(name: string, input: unknown, context: CallContext): Promise<ToolResult> {
    const { name: server } = this.definition;
    if (this.link.established === undefined) await this.connected(context.signal);
    const found = this.offered.find(name);
    if (found === undefined) {
      const names = this.tools.map(({ metadata }) => metadata.mcpTool).join(', ');
      throw new McpRequestError(
        server,
        `MCP server "${server}" offers no tool ${JSON.stringify(name)}; it offers: ${names}`,
      );
    }
    const checked = await found.tool.check(input, context.signal);
    if (checked.issues === undefined) return found.call(checked.value, context);
    const problems = checked.issues.map(({ message }) => message).join('; ');
    const message = `The arguments of tool ${JSON.stringify(name)} of MCP server "${server}" are invalid: ${problems}`;
    throw new McpRequestError(server, message, { status: INVALID_PARAMS });
  }

  async finishAuthorization(code: string | URLSearchParams): Promise<void> {
    const { name, origin } = this.definition;
    const { failure } = this.link;
    if (!(failure instanceof AuthorizationPendingError)) {
      throw new McpUnavailableError(name, 'no authorization is pending.');
    }
    await failure.finish(code).catch((error) => {
      const failed = requestError(name, error);
      throw origin.redact?.(failed) ?? failed;
    });
    await this.link.connect();
  }

  /** Pending requests fail at once. Resolves when all processes of the server have ended. */
  async close(): Promise<void> {
    this.link.close();
    await this.context.endings.settled();
  }

  get isBusy(): boolean {
    return this.underWay > 0;
  }

  idle(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    this.whenIdle ??= createDeferred<void>();
    return this.whenIdle.promise;
  }

  /** Waits for a connection, within the time limits of a request. */
  private connected(signal: AbortSignal | undefined): Promise<Connection> {
    const { definition, settings, hold } = this.context;
    const { callMs, totalMs } = settings.timeouts;
    const limits = { callMs: definition.callTimeoutMs ?? callMs, totalMs };
    const time = { what: `wait for MCP server "${definition.name}"`, ...limits, hold, signal };
    return withDeadline(time, () => this.link.connected());
  }
}
