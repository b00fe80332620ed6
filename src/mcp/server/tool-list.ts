import type { Connection, ServerContext } from '../connection/connection.js';
import type { Established } from '../connection/open-connection.js';
import type { McpToolsDeltaEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import {
  type CallServer,
  type CallTool,
  type McpTool,
  type McpToolOwner,
  toMcpTool,
  toolCaller,
} from '../tools/mcp-tool.js';
import { patternsWithout, toolFilter } from '../tools/patterns.js';
import { type McpToolSpec, readToolSpec } from '../tools/spec.js';

/** The server whose tools are offered. */
export interface ServerToolsOptions extends Pick<ServerContext, 'definition' | 'settings' | 'log' | 'emit'> {
  readonly call: CallServer;
  /** The tools are not the same as before. */
  readonly onTools: () => void;
}

/** Added, removed and changed tools, by the server's own names. */
type ToolsDelta = Pick<McpToolsDeltaEvent, 'added' | 'removed' | 'changed'>;

/** After a change is told, others are waited for so long: one reading covers them all. */
const GATHER_MS = 100;

/**
 * The tools that a server offers while it is connected: its list, without tools that are unsound, not wanted, or pinned and
 * changed. The list is read again when the server says that it has changed.
 */
export class ServerTools {
  tools: readonly McpTool[] = [];
  private connection: Connection | undefined = undefined;
  private current: ReadonlyMap<string, McpToolSpec> = new Map();
  /** The fingerprint that each tool had when it was first seen. */
  private readonly firstSeen = new Map<string, string>();
  private readonly warned = new Set<string>();
  private readonly isWanted: (name: string) => boolean;
  /** The next reading, or the one under way. */
  private timer: unknown = undefined;
  /** A change was told since the last reading began. */
  private isStale = false;

  constructor(private readonly options: ServerToolsOptions) {
    const { includeTools, excludeTools } = options.definition;
    this.isWanted = toolFilter(includeTools, excludeTools);
  }

  begin({ connection, entries }: Established): void {
    this.connection = connection;
    this.offer(entries);
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
    this.current = new Map();
    this.tools = [];
    this.options.onTools();
  }

  /** The server says that its tools have changed. It may say so while the list is read for the first time. */
  changed(): void {
    const { clock } = this.options.settings.system;
    this.isStale = true;
    if (this.connection) this.timer ??= clock.setTimeout(() => void this.readAgain(), GATHER_MS);
  }

  private async readAgain(): Promise<void> {
    const { connection } = this;
    this.isStale = false;
    try {
      const entries = await connection?.list('tools', {});
      if (entries && this.connection === connection) this.offer(entries);
    } catch (error) {
      this.options.log.write('warn', `its tools could not be read again: ${failureText(error)}`);
    }
    this.timer = undefined;
    if (this.isStale) this.changed();
  }

  private offer(entries: readonly unknown[]): void {
    const { definition, settings, log, onTools, emit } = this.options;
    const delta = this.update(entries);
    onTools();
    if (delta.changed.length > 0) {
      const done = settings.pinTools ? 'withheld' : 'offered as they are now';
      const shown = JSON.stringify(delta.changed).slice(1, -1).slice(0, 500);
      log.write('warn', `tools are not what they were, and are ${done}: ${shown}`);
    }
    if (Object.values(delta).some((names) => names.length > 0)) {
      emit({ type: 'tools-delta', server: definition.name, ...delta });
    }
  }

  private update(entries: readonly unknown[]): ToolsDelta {
    const before = this.current;
    const found = new Map<string, McpToolSpec>();
    entries.forEach((entry, at) => void this.take(entry, at, found));
    this.reportMisfits(entries);
    const changed = [...found.values()].filter((spec) => this.isChanged(spec)).map(({ name }) => name);
    if (this.options.settings.pinTools) for (const name of changed) found.delete(name);
    this.current = found;
    const known = new Map(this.tools.map((tool) => [tool.metadata.mcpTool, tool]));
    // An unchanged tool stays the same object, with its compiled schema.
    this.tools = [...found.values()].map((spec) => {
      const isSame = before.get(spec.name)?.fingerprint === spec.fingerprint;
      return (isSame ? known.get(spec.name) : undefined) ?? this.toolOf(spec);
    });
    return {
      added: [...found.keys()].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !found.has(name)),
      changed: changed.filter((name) => before.get(name)?.fingerprint !== found.get(name)?.fingerprint),
    };
  }

  private take(entry: unknown, at: number, found: Map<string, McpToolSpec>): void {
    const spec = readToolSpec(entry, this.options.settings.limits);
    const shown = JSON.stringify(nameOf(entry)?.slice(0, 100)) ?? `number ${at}`;
    if ('problem' in spec) this.warnOnce(`tool ${shown} is skipped: ${spec.problem}`);
    else if (found.has(spec.name)) this.warnOnce(`tool ${shown} is skipped: there is one of that name already`);
    else if (this.isWanted(spec.name)) found.set(spec.name, spec);
  }

  /** A misspelled name in `excludeTools` would let a tool pass that was to be left out. */
  private reportMisfits(entries: readonly unknown[]): void {
    const { includeTools = [], excludeTools } = this.options.definition;
    const names = entries.flatMap((entry) => nameOf(entry) ?? []);
    for (const pattern of patternsWithout(names, [...includeTools, ...excludeTools])) {
      this.warnOnce(`it has no tool ${JSON.stringify(pattern.slice(0, 100))}, which its configuration names`);
    }
  }

  /** Lists are read again and again. */
  private warnOnce(text: string): void {
    if (this.warned.has(text)) return;
    this.warned.add(text);
    this.options.log.write('warn', text);
  }

  private isChanged({ name, fingerprint }: McpToolSpec): boolean {
    const first = this.firstSeen.get(name) ?? fingerprint;
    this.firstSeen.set(name, first);
    return first !== fingerprint;
  }

  private toolOf(spec: McpToolSpec): McpTool {
    return toMcpTool(spec, this.owner);
  }

  private get owner(): McpToolOwner {
    const { definition, call, log } = this.options;
    return { server: definition.name, call, warn: (problem) => log.write('warn', problem) };
  }
}

function nameOf(entry: unknown): string | undefined {
  const { name } = (entry ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}
