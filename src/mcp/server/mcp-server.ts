import { safeText } from '../../internal/safe-text.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { variablesOf } from '../config/trust-item.js';
import { type McpSessionLostError, McpUnavailableError } from '../error.js';
import type { McpEvent } from '../event.js';
import type { CallServer, McpTool } from '../tools/mcp-tool.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { PausableClock } from '../transport/pausable-clock.js';
import { ProcessTransport } from '../transport/process-transport.js';
import type { Connection, ConnectionListener, McpTransport } from './connection.js';
import { ConnectionManager } from './connection-manager.js';
import { failureText, requestError } from './failure-text.js';
import { type Established, shakeHands } from './handshake.js';
import { createListener } from './listener.js';
import type { LogLimiter } from './log-limiter.js';
import { Refresher } from './refresher.js';
import { ServerRequests } from './requests.js';
import type { McpServerStatus } from './status.js';
import { ServerTools } from './tool-list.js';

/** What a server needs of its loader. */
export interface McpServerHost {
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  /** The server's tools are not what they were. */
  readonly onTools: () => void;
  readonly emit: (event: McpEvent) => void;
}

/** How long a server has to show that it is still there, where that is in doubt. */
const PROBE_MS = 5_000;

/** One server through all of its connections. */
export class McpServer {
  readonly link: ConnectionManager;
  readonly requests: ServerRequests;
  private readonly offered: ServerTools;
  private readonly listener: Omit<ConnectionListener, 'onEnd'>;
  private unauthorized: HttpTransport | undefined = undefined;
  private readonly refresher: Refresher;
  private readonly hold: PausableClock;
  /** What was last tried to connect by. */
  private transport: McpTransport | undefined = undefined;
  /** A connection whose session the server has forgotten. */
  private retired: Connection | undefined = undefined;
  private isStale = false;
  private readonly endings = new Set<Promise<void>>();

  constructor(
    readonly definition: McpServerDefinition,
    private readonly host: McpServerHost,
  ) {
    const { settings, log, emit } = host;
    const warn = (problem: string) => log.write('warn', problem);
    this.offered = new ServerTools({ definition, settings, warn, call: this.call });
    const { name: server } = definition;
    this.hold = new PausableClock(settings.system.clock);
    this.refresher = new Refresher(settings.system.clock, () => this.refresh());
    const onToolsChanged = () => this.toolsChanged();
    this.listener = createListener({ server, settings, log, hold: this.hold.during, onToolsChanged });
    this.link = new ConnectionManager({
      ...{ definition, settings, log, emit, hold: this.hold },
      open: (trusted, signal) => this.shakeHands(trusted, signal),
      stderr: () => (this.transport instanceof ProcessTransport ? this.transport.stderr() : ''),
      onUp: (established) => this.begin(established),
      onDown: () => this.withdraw(),
      discard: ({ connection }) => this.track(connection.close()),
    });
    const { link, hold } = this;
    const retire = (connection: Connection, error: McpSessionLostError) => this.retire(connection, error);
    this.requests = new ServerRequests({ definition, settings, log, link, hold, retire });
  }

  get tools(): readonly McpTool[] {
    return this.offered.tools;
  }

  status(): McpServerStatus {
    const { name, transport, origin } = this.definition;
    const { state, lastError, reconnects, established } = this.link;
    const { instructions } = established?.connection ?? {};
    return {
      ...{ name, state, lastError, reconnects, scope: origin.scope, source: origin.source },
      transport: established?.transport ?? transport,
      protocolVersion: established?.connection.protocolVersion,
      instructions: instructions && safeText(instructions, { maxLength: this.host.settings.limits.descriptionLength }),
      tools: this.tools.map((tool) => tool.name),
      toolCount: this.tools.length,
      reads: variablesOf(this.definition),
    };
  }

  /** Hands over the code that the user came back with, and connects. */
  async finishAuthorization(code: string): Promise<void> {
    const { name } = this.definition;
    if (!this.unauthorized) throw new McpUnavailableError(name, 'it waits for no authorization.');
    try {
      await this.unauthorized.finishAuth(code);
    } catch (error) {
      throw requestError(name, error);
    }
    this.unauthorized = undefined;
    await this.link.connect();
  }

  announceRoots(): void {
    const { established } = this.link;
    established?.connection.announceRoots().catch((error) => this.listener.onProblem(error));
  }

  /** Calls that are under way fail at once. Resolves when nothing of the server is left. */
  async close(): Promise<void> {
    const connection = this.link.close();
    this.refresher.cancel();
    this.requests.abort(new McpUnavailableError(this.definition.name, 'it was closed.'));
    for (const left of [connection, this.retired]) if (left) this.track(left.close());
    while (this.endings.size > 0) await Promise.all(this.endings);
  }

  private readonly call: CallServer = (spec, input, { signal, progress }) =>
    this.requests.request({
      method: 'tools/call',
      params: { name: spec.name, arguments: input },
      signal,
      onProgress: progress,
    });

  /** What is still under way on it may come to its end. */
  private retire(connection: Connection, { message }: McpSessionLostError): void {
    this.retired = connection;
    this.link.lost(connection, message);
  }

  private async shakeHands(trusted: TrustedLaunch | undefined, signal: AbortSignal): Promise<Established> {
    const { settings, log } = this.host;
    const listener: ConnectionListener = {
      ...this.listener,
      onEnd: (reason) => current && this.link.lost(current, reason),
    };
    let current: Connection | undefined;
    const established = await shakeHands({
      ...{ definition: this.definition, settings, trusted, listener, signal, hold: this.hold.during },
      onDoubt: () => current?.probe(PROBE_MS),
      onTransport: (transport) => {
        this.transport = transport;
      },
      onUnauthorized: (transport) => {
        this.unauthorized = transport;
      },
      track: (ending) => this.track(ending),
      warn: (problem) => log.write('warn', problem),
    });
    current = established.connection;
    return established;
  }

  private track(ending: Promise<void>): void {
    const settled = ending.catch((error) => this.listener.onProblem(error)).finally(() => this.endings.delete(settled));
    this.endings.add(settled);
  }

  private toolsChanged(): void {
    if (this.link.established) this.refresher.request();
    else this.isStale = true;
  }

  /** A change that was told while the list was read is not in it, or only in part. */
  private begin({ entries }: Established): void {
    this.offer(entries);
    if (this.isStale) this.refresher.request();
    this.isStale = false;
  }

  private offer(entries: readonly unknown[]): void {
    const delta = this.offered.update(entries);
    this.host.onTools();
    if (delta.changed.length > 0) this.reportChange(delta.changed);
    if (Object.values(delta).some((names) => names.length > 0)) {
      this.host.emit({ type: 'tools-delta', server: this.definition.name, ...delta });
    }
  }

  private reportChange(names: readonly string[]): void {
    const done = this.host.settings.pinTools ? 'withheld' : 'offered as they are now';
    const shown = JSON.stringify(names).slice(1, -1).slice(0, 500);
    this.host.log.write('warn', `tools are not what they were, and are ${done}: ${shown}`);
  }

  private withdraw(): void {
    this.offered.clear();
    this.host.onTools();
  }

  private async refresh(): Promise<void> {
    const connection = this.link.established?.connection;
    if (connection?.capabilities.tools === undefined) return;
    try {
      const entries = await this.requests.list('tools/list', 'tools', undefined);
      if (this.link.established?.connection === connection) this.offer(entries);
    } catch (error) {
      this.host.log.write('warn', `its tools could not be read again: ${failureText(error)}`);
    }
  }
}
