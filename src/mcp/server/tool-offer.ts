import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { Connection } from '../connection/connection.js';
import type { Established } from '../connection/open-connection.js';
import type { McpEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import type { LogLimiter } from '../log-limiter.js';
import type { CallServer, McpTool } from '../tools/mcp-tool.js';
import { Refresher } from './refresher.js';
import { ServerTools } from './tool-list.js';

/** The server whose tools are offered. */
export interface ToolOfferOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  readonly call: CallServer;
  /** The tools are not the same as before. */
  readonly onTools: () => void;
  readonly emit: (event: McpEvent) => void;
}

/** The tools that a server offers while it is connected. The list is read again when the server says that it has changed. */
export class ToolOffer {
  private readonly offered: ServerTools;
  private readonly refresher: Refresher;
  private connection: Connection | undefined = undefined;
  /** A change was told while the list was read: it is not in it, or only in part. */
  private isStale = false;

  constructor(private readonly options: ToolOfferOptions) {
    const { definition, settings, log, call } = options;
    this.offered = new ServerTools({ definition, settings, call, warn: (problem) => log.write('warn', problem) });
    this.refresher = new Refresher(settings.system.clock, () => this.refresh());
  }

  get tools(): readonly McpTool[] {
    return this.offered.tools;
  }

  begin({ connection, entries }: Established): void {
    this.connection = connection;
    this.offer(entries);
    if (this.isStale) this.refresher.request();
    this.isStale = false;
  }

  withdraw(): void {
    this.connection = undefined;
    this.refresher.cancel();
    this.offered.clear();
    this.options.onTools();
  }

  changed(): void {
    if (this.connection) this.refresher.request();
    else this.isStale = true;
  }

  private offer(entries: readonly unknown[]): void {
    const { definition, onTools, emit } = this.options;
    const delta = this.offered.update(entries);
    onTools();
    if (delta.changed.length > 0) this.reportChange(delta.changed);
    if (Object.values(delta).some((names) => names.length > 0)) {
      emit({ type: 'tools-delta', server: definition.name, ...delta });
    }
  }

  private reportChange(names: readonly string[]): void {
    const { settings, log } = this.options;
    const done = settings.pinTools ? 'withheld' : 'offered as they are now';
    const shown = JSON.stringify(names).slice(1, -1).slice(0, 500);
    log.write('warn', `tools are not what they were, and are ${done}: ${shown}`);
  }

  private async refresh(): Promise<void> {
    const { connection } = this;
    try {
      const entries = await connection?.list('tools', {});
      if (entries && this.connection === connection) this.offer(entries);
    } catch (error) {
      this.options.log.write('warn', `its tools could not be read again: ${failureText(error)}`);
    }
  }
}
