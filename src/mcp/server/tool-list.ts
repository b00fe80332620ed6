import { starTest } from '../../internal/star-pattern.js';
import type { Connection } from '../connection/connection.js';
import type { RequestOptions } from '../connection/sdk.js';
import type { McpLimits } from '../options.js';
import { problemInWorker } from '../schema/tool-schema.js';
import { failureText } from '../server-log.js';
import { type CallServer, type CallTool, type McpTool, toMcpTool, toolCaller } from '../tools/mcp-tool.js';
import { type McpToolSpec, readEntry } from '../tools/spec.js';
import { withDeadline } from '../transport/time-limits.js';
import type { ServerContext } from './context.js';
import { Rereads } from './rereads.js';

/** The valid tools of one reading of `tools/list`, by the server's own names. */
interface ReadTools {
  readonly specs: Map<string, McpToolSpec>;
  readonly warnings: readonly string[];
}

/** The tools of one reading. `specs` leaves out the tools whose change a person has to approve first. */
export interface ListedTools extends ReadTools {
  /**
   * Names of tools whose definition has changed since the last reading, and differs from the definition that was first
   * seen.
   */
  readonly changed: readonly string[];
}

/** Reads and validates the tools of a server. Rejects with the reason of the abort signal. */
export async function listTools(
  connection: Connection,
  { definition, settings, pins }: Pick<ServerContext, 'definition' | 'settings' | 'pins'>,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<ListedTools> {
  const { signal } = options;
  const entries = await connection.list('tools', options);
  const read = await readTools(entries, { ...definition, limits: settings.limits, signal });
  const { changed, refused } = await pins.review(read.specs.values());
  for (const name of refused) read.specs.delete(name);
  return { ...read, changed };
}

interface ToolReading {
  readonly limits: McpLimits;
  readonly includeTools?: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
  readonly signal: AbortSignal;
}

export async function readTools(entries: readonly unknown[], options: ToolReading): Promise<ReadTools> {
  const { limits, includeTools, excludeTools, signal } = options;
  const isWanted = toolFilter(includeTools, excludeTools);
  const specs = new Map<string, McpToolSpec>();
  const names = entries.flatMap((entry) => nameOf(entry) ?? []);
  // A misspelt name in `excludeTools` is reported, because the tool to exclude is then offered.
  const warnings = [...(includeTools ?? []), ...excludeTools]
    .filter((pattern) => !names.some(starTest(pattern)))
    .map((pattern) => `no tool matches ${shown(pattern)} of \`includeTools\` or \`excludeTools\``);
  for (const [index, entry] of entries.entries()) {
    const name = nameOf(entry);
    if (name !== undefined && !isWanted(name)) continue;
    const subject = `tool ${name === undefined ? `number ${index}` : shown(name)}`;
    const spec = readEntry(entry, limits);
    const problem = 'problem' in spec ? spec.problem : await problemInWorker(spec.inputSchema, signal);
    if ('problem' in spec || problem !== undefined) {
      warnings.push(`${subject} is skipped: ${problem}`);
      continue;
    }
    if (specs.has(spec.name)) warnings.push(`${subject} is skipped: another tool has this name`);
    else specs.set(spec.name, spec);
    if (spec.isCut)
      warnings.push(
        `the description of ${subject} is cut at ${limits.descriptionLength} characters; raise \`limits.descriptionLength\``,
      );
  }
  return { specs, warnings };
}

function nameOf(entry: unknown): string | undefined {
  const { name } = (entry ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** Returns a filter for tool names: the included names without the excluded ones. `*` matches any characters. */
export function toolFilter(
  include: readonly string[] | undefined,
  exclude: readonly string[],
): (name: string) => boolean {
  const included = include?.map(starTest);
  const excluded = exclude.map(starTest);
  return (name) => (included?.some((fits) => fits(name)) ?? true) && !excluded.some((fits) => fits(name));
}

/**
 * The tools of a connected server that are offered. Leaves out invalid and excluded tools and, with `pinTools`, tools
 * whose definition changed. Reads the list again after a change notification.
 */
export class ServerTools {
  tools: readonly McpTool[] = [];
  /** Reads the list again after change notifications, which may arrive while it is read for the first time. */
  readonly rereads: Rereads;
  private connection: Connection | undefined = undefined;
  /** All tools by the server's own names. Includes tools that only the user interface of an MCP app may call. */
  private offered: ReadonlyMap<string, { readonly spec: McpToolSpec; readonly tool: McpTool }> = new Map();
  private readonly warned = new Set<string>();

  constructor(
    private readonly context: ServerContext,
    private readonly call: CallServer,
  ) {
    this.rereads = new Rereads(context.settings.system.clock, () => this.readAgain());
  }

  begin({ connection, tools }: { readonly connection: Connection; readonly tools: ListedTools }): void {
    this.connection = connection;
    this.offer(tools);
    this.rereads.begin();
  }

  /** Finds a tool by the server's own name or by its full name. */
  find(name: string): { readonly tool: McpTool; readonly call: CallTool } | undefined {
    const found = this.offered.get(name) ?? [...this.offered.values()].find(({ tool }) => tool.name === name);
    return found && { tool: found.tool, call: toolCaller(found.spec, this.owner) };
  }

  withdraw(): void {
    this.rereads.end();
    this.connection = undefined;
    this.offered = new Map();
    this.tools = [];
    this.context.onTools();
  }

  private async readAgain(): Promise<void> {
    const { connection } = this;
    const { definition, settings, hold, log } = this.context;
    const { connectMs } = settings.timeouts;
    const what = `tool list of MCP server "${definition.name}"`;
    const limits = { what, callMs: connectMs, totalMs: connectMs, hold, signal: undefined };
    if (connection === undefined) return;
    try {
      const tools = await withDeadline(limits, (signal) => listTools(connection, this.context, { signal }));
      if (this.connection === connection) this.offer(tools);
    } catch (error) {
      if (this.connection === connection) {
        log.write('warn', `its tool list could not be read again: ${failureText(error)}`);
      }
    }
  }

  private offer({ specs, warnings, changed }: ListedTools): void {
    const { definition, log, onTools, emit } = this.context;
    const before = this.offered;
    // The list is read repeatedly, and each warning is logged once.
    for (const warning of warnings) {
      if (!this.warned.has(warning)) log.write('warn', warning);
      this.warned.add(warning);
    }
    const offered = [...specs.values()].map((spec) => {
      const known = before.get(spec.name);
      // An unchanged tool stays the same object.
      return known?.spec.fingerprint === spec.fingerprint ? known : { spec, tool: toMcpTool(spec, this.owner) };
    });
    this.offered = new Map(offered.map((it) => [it.spec.name, it]));
    this.tools = offered.filter(({ spec }) => spec.isForModel).map(({ tool }) => tool);
    onTools();
    for (const isOffered of [true, false]) {
      const names = changed.filter((name) => specs.has(name) === isOffered);
      const action = isOffered ? 'offered in their new form' : 'not offered';
      const list = JSON.stringify(names).slice(1, -1).slice(0, 500);
      if (names.length > 0) log.write('warn', `tools with a changed definition are ${action}: ${list}`);
    }
    const added = [...specs.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !specs.has(name));
    if (added.length + removed.length + changed.length > 0)
      emit({ type: 'tools-delta', server: definition.name, added, removed, changed });
  }

  private get owner() {
    const { definition, settings, log } = this.context;
    const warn = (problem: string) => log.write('warn', problem);
    return { server: definition.name, call: this.call, checkArguments: settings.checkArguments, warn };
  }
}
