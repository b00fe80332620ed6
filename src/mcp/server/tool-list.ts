import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { McpToolsDeltaEvent } from '../event.js';
import { type CallServer, type McpTool, toMcpTool } from '../tools/mcp-tool.js';
import { patternsWithout, toolFilter } from '../tools/patterns.js';
import { type McpToolSpec, readToolSpec } from '../tools/spec.js';

/** What a server's tools are made with. */
export interface ServerToolsOptions {
  readonly definition: McpServerDefinition;
  readonly settings: Pick<McpSettings, 'limits' | 'pinTools'>;
  readonly call: CallServer;
  readonly warn: (problem: string) => void;
}

/** What has come, gone and changed, by the server's own names. */
export type ToolsDelta = Pick<McpToolsDeltaEvent, 'added' | 'removed' | 'changed'>;

/** The tools of one server: what it lists, less what is not sound, not wanted, or not what it was. */
export class ServerTools {
  tools: readonly McpTool[] = [];
  private current: ReadonlyMap<string, McpToolSpec> = new Map();
  /** What each tool was when it was first seen. */
  private readonly firstSeen = new Map<string, string>();
  private readonly said = new Set<string>();
  private readonly isWanted: (name: string) => boolean;

  constructor(private readonly options: ServerToolsOptions) {
    const { includeTools, excludeTools } = options.definition;
    this.isWanted = toolFilter(includeTools, excludeTools);
  }

  /** Takes a list in the place of the one before. */
  update(entries: readonly unknown[]): ToolsDelta {
    const before = this.current;
    const found = new Map<string, McpToolSpec>();
    entries.forEach((entry, at) => void this.take(entry, at, found));
    this.reportMisfits(entries);
    const changed = [...found.values()].filter((spec) => this.isChanged(spec)).map(({ name }) => name);
    if (this.options.settings.pinTools) for (const name of changed) found.delete(name);
    this.current = found;
    const known = new Map(this.tools.map((tool) => [tool.metadata.mcpTool, tool]));
    // The same object where nothing has changed, with its compiled schema.
    this.tools = [...found.values()].map((spec) => {
      const same = before.get(spec.name)?.fingerprint === spec.fingerprint;
      return (same ? known.get(spec.name) : undefined) ?? this.toolOf(spec);
    });
    return {
      added: [...found.keys()].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !found.has(name)),
      changed: changed.filter((name) => before.get(name)?.fingerprint !== found.get(name)?.fingerprint),
    };
  }

  clear(): void {
    this.current = new Map();
    this.tools = [];
  }

  private take(entry: unknown, at: number, found: Map<string, McpToolSpec>): void {
    const spec = readToolSpec(entry, this.options.settings.limits);
    if ('problem' in spec) return this.skip(nameOf(entry, at), spec.problem);
    if (!this.isWanted(spec.name)) return;
    if (found.has(spec.name)) return this.skip(nameOf(entry, at), 'there is one of that name already');
    found.set(spec.name, spec);
  }

  /** A name that is written wrong lets a tool pass that was to be left out. */
  private reportMisfits(entries: readonly unknown[]): void {
    const { includeTools = [], excludeTools } = this.options.definition;
    const names = entries.flatMap((entry) => textName(entry) ?? []);
    for (const pattern of patternsWithout(names, [...includeTools, ...excludeTools])) {
      this.warnOnce(`it has no tool ${JSON.stringify(pattern.slice(0, 100))}, which its configuration names`);
    }
  }

  private skip(name: string, problem: string): void {
    this.warnOnce(`tool ${name} is skipped: ${problem}`);
  }

  /** Lists are read again and again. */
  private warnOnce(text: string): void {
    if (this.said.has(text)) return;
    if (this.said.size < 1_000) this.said.add(text);
    this.options.warn(text);
  }

  private isChanged({ name, fingerprint }: McpToolSpec): boolean {
    const { limits, pinTools } = this.options.settings;
    const first = this.firstSeen.get(name);
    if (first !== undefined) return first !== fingerprint;
    // A server that makes up names for ever is not remembered for ever, and what is not remembered cannot be pinned.
    if (this.firstSeen.size >= 10 * limits.tools) return pinTools;
    this.firstSeen.set(name, fingerprint);
    return false;
  }

  private toolOf(spec: McpToolSpec): McpTool {
    const { definition, call, warn } = this.options;
    return toMcpTool(spec, { server: definition.name, call, warn });
  }
}

function nameOf(entry: unknown, at: number): string {
  const name = textName(entry);
  return name === undefined ? `number ${at}` : JSON.stringify(name.slice(0, 100));
}

function textName(entry: unknown): string | undefined {
  const { name } = (entry ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}
