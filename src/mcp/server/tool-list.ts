import { Stop } from '../../internal/stop.js';
import type { Connection, ServerContext } from '../connection/connection.js';
import { listTools } from '../connection/list-tools.js';
import type { Established } from '../connection/open-connection.js';
import { withOwnSignal } from '../connection/request-time.js';
import type { McpToolsDeltaEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import {
  type CallServer,
  type CallTool,
  type CheckArguments,
  type McpTool,
  type McpToolOwner,
  toMcpTool,
  toolCaller,
} from '../tools/mcp-tool.js';
import { patternsWithout } from '../tools/patterns.js';
import type { McpToolSpec } from '../tools/spec.js';
import type { ReadTools } from '../tools/tool-entries.js';
import { Deadline } from '../transport/pausable-clock.js';

/** Options of ServerTools. */
export interface ServerToolsOptions extends Pick<ServerContext, 'definition' | 'settings' | 'log' | 'emit' | 'hold'> {
  readonly call: CallServer;
  readonly checkArguments: () => CheckArguments;
  /** Called when the offered tools have changed. */
  readonly onTools: () => void;
}

/** The server's own names of added, removed and changed tools. */
type ToolsDelta = Pick<McpToolsDeltaEvent, 'added' | 'removed' | 'changed'>;

/** Delay in milliseconds after a change notification. One reading of the list then covers several notifications. */
const GATHER_MS = 100;
/** After a reading, the next one waits this many times as long as the reading took. */
const PAUSES = 10;
const MAX_PAUSE_MS = 60_000;

/**
 * The tools of a connected server that are offered. Leaves out invalid and excluded tools and, with `pinTools`, tools
 * whose definition changed. Reads the list again after a change notification.
 */
export class ServerTools {
  tools: readonly McpTool[] = [];
  private connection: Connection | undefined = undefined;
  /** Ends a reading of the list when the connection ends. */
  private ending = new Stop();
  private current: ReadonlyMap<string, McpToolSpec> = new Map();
  /** The fingerprint of each tool when it was first seen. */
  private readonly firstSeen = new Map<string, string>();
  /** The subjects of the warnings that were logged. */
  private readonly warned = new Set<string>();
  /** The timer of the next reading. Also set while the list is being read. */
  private timer: unknown = undefined;
  /** True if a change notification arrived after the last reading began. */
  private isStale = false;
  /** The next reading does not begin before this time. */
  private nextAt = 0;

  constructor(private readonly options: ServerToolsOptions) {}

  begin({ connection, tools }: Established): void {
    this.connection = connection;
    this.ending = new Stop();
    this.offer(tools);
    if (this.isStale) this.changed();
  }

  /**
   * Returns the tool of this name, which is the name at the server or the name of the tool, and its caller. Undefined if
   * the server does not offer the tool.
   */
  find(name: string): { readonly tool: McpTool; readonly call: CallTool } | undefined {
    const tool =
      this.tools.find(({ metadata }) => metadata.mcpTool === name) ?? this.tools.find((it) => it.name === name);
    const spec = tool && this.current.get(tool.metadata.mcpTool);
    return tool && spec && { tool, call: toolCaller(spec, this.owner) };
  }

  withdraw(): void {
    this.options.settings.system.clock.clearTimeout(this.timer);
    this.timer = undefined;
    this.isStale = false;
    this.connection = undefined;
    this.ending.stop(undefined);
    this.current = new Map();
    this.tools = [];
    this.options.onTools();
  }

  /** Handles a change notification. It may arrive while the list is read for the first time. */
  changed(): void {
    const { clock } = this.options.settings.system;
    this.isStale = true;
    const pauseMs = Math.max(GATHER_MS, this.nextAt - clock.now());
    if (this.connection) this.timer ??= clock.setTimeout(() => void this.readAgain(), pauseMs);
  }

  /** Reads the list again, and sets the pause until the next reading. A server may notify after each reading. */
  private async readAgain(): Promise<void> {
    const { connection } = this;
    const { clock } = this.options.settings.system;
    const began = clock.now();
    this.isStale = false;
    try {
      const tools = connection && (await this.read(connection));
      if (tools && this.connection === connection) this.offer(tools);
    } catch (error) {
      if (this.connection === connection)
        this.options.log.write('warn', `its tool list could not be read again: ${failureText(error)}`);
    }
    if (this.connection !== connection) return;
    const ended = clock.now();
    this.nextAt = ended + Math.min(PAUSES * (ended - began), MAX_PAUSE_MS);
    this.timer = undefined;
    if (this.isStale) this.changed();
  }

  private read(connection: Connection): Promise<ReadTools> {
    const { definition, settings, hold } = this.options;
    return withOwnSignal(this.ending.signal, async (signal, controller) => {
      const limitMs = settings.timeouts.connectMs;
      const limits = { what: `tool list of MCP server "${definition.name}"`, callMs: limitMs, totalMs: limitMs, hold };
      const deadline = new Deadline(limits, (late) => controller.abort(late));
      try {
        return await listTools(connection, this.options, { signal });
      } finally {
        deadline.clear();
      }
    });
  }

  private offer(tools: ReadTools): void {
    const { definition, settings, log, onTools, emit } = this.options;
    const delta = this.update(tools);
    onTools();
    if (delta.changed.length > 0) {
      const action = settings.pinTools ? 'no longer offered' : 'offered in their new form';
      const shown = JSON.stringify(delta.changed).slice(1, -1).slice(0, 500);
      log.write('warn', `tools with a changed definition are ${action}: ${shown}`);
    }
    if (Object.values(delta).some((names) => names.length > 0)) {
      emit({ type: 'tools-delta', server: definition.name, ...delta });
    }
  }

  private update({ specs, names, warnings }: ReadTools): ToolsDelta {
    const before = this.current;
    const found = new Map(specs);
    for (const warning of warnings) this.warnOnce(warning);
    for (const spec of specs.values()) this.reportCut(spec);
    this.reportUnmatchedPatterns(names);
    const changed = [...found.values()].filter((spec) => this.isChanged(spec)).map(({ name }) => name);
    if (this.options.settings.pinTools) for (const name of changed) found.delete(name);
    this.current = found;
    const known = new Map(this.tools.map((tool) => [tool.metadata.mcpTool, tool]));
    // An unchanged tool stays the same object, with its compiled schema.
    this.tools = [...found.values()].map((spec) => {
      const isSame = before.get(spec.name)?.fingerprint === spec.fingerprint;
      return (isSame ? known.get(spec.name) : undefined) ?? toMcpTool(spec, this.owner);
    });
    return {
      added: [...found.keys()].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !found.has(name)),
      changed: changed.filter((name) => before.get(name)?.fingerprint !== found.get(name)?.fingerprint),
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

  private isChanged({ name, fingerprint }: McpToolSpec): boolean {
    const first = this.firstSeen.get(name) ?? fingerprint;
    this.firstSeen.set(name, first);
    return first !== fingerprint;
  }

  private get owner(): McpToolOwner {
    const { definition, call, log, checkArguments } = this.options;
    return { server: definition.name, call, checkArguments, warn: (problem) => log.write('warn', problem) };
  }
}
