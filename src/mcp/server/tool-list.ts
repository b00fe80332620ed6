import { Stop } from '../../internal/stop.js';
import type { Connection } from '../connection/connection.js';
import { failureText } from '../failure-text.js';
import {
  type CallServer,
  type CallTool,
  type McpTool,
  type McpToolOwner,
  toMcpTool,
  toolCaller,
} from '../tools/mcp-tool.js';
import type { McpToolSpec } from '../tools/spec.js';
import { withDeadline } from '../transport/time-limits.js';
import type { ServerContext } from './context.js';
import type { McpToolsDeltaEvent } from './event.js';
import { type ListedTools, listTools, patternsWithout } from './list-tools.js';
import type { Established } from './open-connection.js';
import { Rereads } from './rereads.js';

export interface ServerToolsOptions
  extends Pick<ServerContext, 'definition' | 'settings' | 'log' | 'emit' | 'hold' | 'pins'> {
  readonly call: CallServer;
  readonly onTools: () => void;
}

type ToolsDelta = Pick<McpToolsDeltaEvent, 'added' | 'removed' | 'changed'>;

/**
 * The tools of a connected server that are offered. Leaves out invalid and excluded tools and, with `pinTools`, tools
 * whose definition changed. Reads the list again after a change notification.
 */
export class ServerTools {
  tools: readonly McpTool[] = [];
  /** These tools, and those that only the user interface of an MCP app may call. */
  private all: readonly McpTool[] = [];
  private connection: Connection | undefined = undefined;
  /** Ends a reading of the list when the connection ends. */
  private ending = new Stop();
  private current: ReadonlyMap<string, McpToolSpec> = new Map();
  private readonly warned = new Set<string>();
  /** Reads the list again after change notifications, which may arrive while it is read for the first time. */
  readonly rereads: Rereads;

  constructor(private readonly options: ServerToolsOptions) {
    this.rereads = new Rereads(options.settings.system.clock, () => this.readAgain());
  }

  begin({ connection, tools }: Established): void {
    this.connection = connection;
    this.ending = new Stop();
    this.offer(tools);
    this.rereads.begin();
  }

  /**
   * Returns the tool of this name, which is the name at the server or the name of the tool, and its caller. Undefined if
   * the server does not offer the tool.
   */
  find(name: string): { readonly tool: McpTool; readonly call: CallTool } | undefined {
    const tool = this.all.find(({ metadata }) => metadata.mcpTool === name) ?? this.all.find((it) => it.name === name);
    const spec = tool && this.current.get(tool.metadata.mcpTool);
    return tool && spec && { tool, call: toolCaller(spec, this.owner) };
  }

  withdraw(): void {
    this.rereads.end();
    this.connection = undefined;
    this.ending.stop(undefined);
    this.current = new Map();
    this.all = [];
    this.tools = [];
    this.options.onTools();
  }

  private async readAgain(): Promise<void> {
    const { connection } = this;
    try {
      const tools = connection && (await this.read(connection));
      if (tools && this.connection === connection) this.offer(tools);
    } catch (error) {
      if (this.connection === connection)
        this.options.log.write('warn', `its tool list could not be read again: ${failureText(error)}`);
    }
  }

  private read(connection: Connection): Promise<ListedTools> {
    const { definition, settings, hold } = this.options;
    const limitMs = settings.timeouts.connectMs;
    const what = `tool list of MCP server "${definition.name}"`;
    const limits = { what, callMs: limitMs, totalMs: limitMs, hold, signal: this.ending.signal };
    return withDeadline(limits, (signal) => listTools(connection, this.options, { signal }));
  }

  private offer(tools: ListedTools): void {
    const { definition, log, onTools, emit } = this.options;
    const delta = this.update(tools);
    onTools();
    for (const isOffered of [true, false]) {
      const names = delta.changed.filter((name) => this.current.has(name) === isOffered);
      const shown = JSON.stringify(names).slice(1, -1).slice(0, 500);
      const action = isOffered ? 'offered in their new form' : 'not offered';
      if (names.length > 0) log.write('warn', `tools with a changed definition are ${action}: ${shown}`);
    }
    if (Object.values(delta).some((names) => names.length > 0)) {
      emit({ type: 'tools-delta', server: definition.name, ...delta });
    }
  }

  private update({ specs, names, warnings, changed }: ListedTools): ToolsDelta {
    const before = this.current;
    const found = new Map(specs);
    for (const warning of warnings) this.warnOnce(warning);
    for (const spec of specs.values()) this.reportCut(spec);
    this.reportUnmatchedPatterns(names);
    this.current = found;
    const known = new Map(this.all.map((tool) => [tool.metadata.mcpTool, tool]));
    // An unchanged tool stays the same object.
    this.all = [...found.values()].map((spec) => {
      const isSame = before.get(spec.name)?.fingerprint === spec.fingerprint;
      return (isSame ? known.get(spec.name) : undefined) ?? toMcpTool(spec, this.owner);
    });
    this.tools = this.all.filter(({ metadata }) => found.get(metadata.mcpTool)?.isForModel);
    return {
      added: [...found.keys()].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !found.has(name)),
      changed,
    };
  }

  /** Warns once about a tool whose description is longer than the limit, also if its length changes. */
  private reportCut({ name, fullLength }: McpToolSpec): void {
    const { descriptionLength } = this.options.settings.limits;
    if (fullLength <= descriptionLength) return;
    this.warnOnce(
      `the description of tool ${JSON.stringify(name.slice(0, 100))} has ${fullLength} characters and is cut at ${descriptionLength}; raise \`limits.descriptionLength\``,
      `description of ${name}`,
    );
  }

  /** Warns about patterns that match no tool. With a typo in `excludeTools`, the tool to exclude would be offered. */
  private reportUnmatchedPatterns(names: readonly string[]): void {
    const { includeTools = [], excludeTools } = this.options.definition;
    for (const pattern of patternsWithout(names, [...includeTools, ...excludeTools])) {
      this.warnOnce(`no tool matches ${JSON.stringify(pattern.slice(0, 100))} of \`includeTools\` or \`excludeTools\``);
    }
  }

  /** Logs one warning about each subject, since the list is read repeatedly. */
  private warnOnce(text: string, subject = text): void {
    if (this.warned.has(subject)) return;
    this.warned.add(subject);
    this.options.log.write('warn', text);
  }

  private get owner(): McpToolOwner {
    const { definition, settings, call, log } = this.options;
    return {
      server: definition.name,
      call,
      checkArguments: settings.checkArguments,
      warn: (problem) => log.write('warn', problem),
    };
  }
}
