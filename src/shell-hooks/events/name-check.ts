import { isObject } from '../../internal/json.js';
import { namesText } from '../../internal/names-text.js';
import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { type HookDialect, isToolEvent } from '../../programs/hook-event.js';
import type { Tool } from '../../tools/tool.js';
import { unknownToolNames } from '../../tools/unknown-tool-names.js';
import { dialectOf, namedEventOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookDiagnostic } from '../hook/diagnostic.js';
import type { ToolNames } from '../hook/event-context.js';
import { patternsReady } from '../hook/linear-pattern.js';
import { isMatched, namesOf, shownArgs, shownToolName } from '../run/matching.js';
import type { HookSystem } from '../run/system.js';

type UnnamedTools = Pick<HookDiagnostic, 'level'> & { readonly problem: string };
type CheckedTool = Pick<Tool, 'name' | 'inputSchema'>;

/**
 * Reports matchers and rules that select no tool as errors, and warns about mapped tools that lack arguments of the tool
 * they stand for. Checks each hook once, at the first model call after all loaders.
 */
export class NameCheck {
  /** For each checked hook, true if its matcher and its rule select a tool of the agent. */
  private readonly alive = new WeakMap<ShellHook, boolean>();
  /** The keys of the problems that this agent's log has already. */
  private readonly reported = new Set<string>();
  private stop: (() => void) | undefined = undefined;

  constructor(
    private readonly host: LoaderHost,
    private readonly system: HookSystem,
  ) {}

  /** Checks the hooks that were not checked yet: their files and patterns now, and their names at the next model call. */
  async update(): Promise<void> {
    this.reportUnnamedTools();
    if (this.stop === undefined && this.unchecked().length > 0) {
      // Waits for the engine for patterns: before it is loaded, every pattern matches.
      const beforeModel = (_messages: unknown, run: RunContext) =>
        patternsReady()?.then(() => this.check(run)) ?? this.check(run);
      this.stop = this.host.use({ name: 'shell-hooks:names', beforeModel });
    }
    await patternsReady();
    this.judgePatterns();
  }

  /**
   * Returns why a hook runs for no tool; undefined if it runs for a tool. Before the tools are known, it is assumed
   * that a hook runs. The exception is a hook for tools of another program, if `toolNames` has no names for that
   * program.
   */
  deadReason(hook: ShellHook): string | undefined {
    const isAlive = this.alive.get(hook);
    const selectors = hook.covers === undefined ? 'its matcher selects' : 'its matcher and its rule select';
    if (isAlive !== undefined) return isAlive ? undefined : `${selectors} no tool of the agent`;
    return this.unnamed(hook)?.problem;
  }

  /** Returns a problem if a hook names tools of another program, and `toolNames` has no names for that program. */
  private unnamed(hook: ShellHook): UnnamedTools | undefined {
    return this.system.toolNames[hook.dialect] === undefined ? namedTools(hook) : undefined;
  }

  /** Reports the files whose hooks name tools of another program, if `toolNames` has no names for that program. */
  private reportUnnamedTools(): void {
    const { registry, report } = this.system;
    const found = new Map<string, Pick<HookDiagnostic, 'level' | 'source'> & { readonly places: string[] }>();
    for (const hook of registry.list()) {
      const { source, name } = hook;
      const unnamed = this.unnamed(hook);
      if (unnamed === undefined || !this.isNew(`file ${source}`)) continue;
      const group = found.get(unnamed.problem) ?? { level: unnamed.level, source, places: [] };
      group.places.push(source ?? name);
      found.set(unnamed.problem, group);
    }
    for (const [problem, { level, source, places }] of found) {
      const message = `${namesText(places)}: ${problem} Map your tools to these names in \`toolNames\`.`;
      report({ level, code: 'tools-unnamed', message, source });
    }
  }

  /** Reports matchers that cannot be tested in linear time. Their hooks run for every tool instead. */
  private judgePatterns(): void {
    for (const { id, name, event, source, pattern } of this.system.registry.list()) {
      const unsupported = pattern?.unsupported;
      if (unsupported === undefined || !this.isNew(`pattern ${id}`)) continue;
      const message = `Hook "${name}" runs for every tool at ${event}, because its matcher is not supported: ${unsupported}. Write a pattern without look-around or back-references, or a list of names.`;
      this.system.report({ level: 'warning', code: 'matcher-in-doubt', message, hook: name, source });
    }
  }

  /** Returns true at the first call with this key. */
  private isNew(key: string): boolean {
    const { size } = this.reported;
    return this.reported.add(key).size > size;
  }

  private unchecked(): readonly ShellHook[] {
    const { registry, toolNames } = this.system;
    const isConcerned = (hook: ShellHook) =>
      namesTools(hook) ||
      hook.covers !== undefined ||
      namedTools(hook) !== undefined ||
      toolNames[hook.dialect] !== undefined;
    return registry.list().filter((hook) => isConcerned(hook) && !this.alive.has(hook));
  }

  private check(run: Pick<RunContext, 'tools'>): void {
    // A run in progress still calls the hooks of this lifecycle after `stop` has removed it.
    if (this.stop === undefined) return;
    this.stop();
    this.stop = undefined;
    const tools = [...this.host.tools(), ...run.tools];
    const hooks = this.unchecked();
    this.checkFields(hooks, tools);
    const problems = hooks.flatMap((hook) => {
      const isAlive = isToolEvent(hook.event) ? this.selectsOne(hook, tools) : hook.covers === undefined;
      this.alive.set(hook, isAlive);
      const unknown = this.unknownNames(hook, tools);
      if (unknown.length > 0) return [`the matcher of hook "${hook.name}": ${unknown.join('; ')}`];
      if (isAlive || hook.covers === undefined || this.unnamed(hook) !== undefined) return [];
      return [
        `the rule \`${hook.condition}\` of hook "${hook.name}" covers no tool that its matcher selects at ${hook.event}`,
      ];
    });
    if (problems.length === 0) return;
    const message = `Some hooks guard no tool: ${problems.join(', and ')}.`;
    this.system.report({ level: 'error', code: 'matcher-unknown', message });
  }

  /** True if a hook runs for a tool, or for one of a server that is not connected yet. */
  private selectsOne(hook: ShellHook, tools: readonly CheckedTool[]): boolean {
    const { names, matcher = '', condition = '' } = hook;
    const isAwaited = (prefix: string) =>
      [matcher, condition, ...names].some((text) => text.includes(prefix)) || this.selects(hook, prefix);
    return tools.some(({ name }) => this.selects(hook, name)) || this.host.toolPrefixes().some(isAwaited);
  }

  private selects(hook: ShellHook, tool: string): boolean {
    const { toolNames, workspaceDir } = this.system;
    if (!isMatched(hook, { event: hook.event, tool }, toolNames)) return false;
    // A rule covers a call with unknown arguments if it covers the name of the tool.
    return hook.covers?.({ names: namesOf(tool, hook, toolNames), args: undefined, workspaceDir }) ?? true;
  }

  /** Reports mapped tools without an argument that hooks of the dialect read, in one warning. */
  private checkFields(hooks: readonly ShellHook[], tools: readonly CheckedTool[]): void {
    const ofTools = hooks.filter(({ event }) => event === 'before_tool' || event === 'after_tool');
    const gaps = [...new Set(ofTools.map(({ dialect }) => dialect))].flatMap((dialect) =>
      tools.flatMap((tool) => {
        const missing = missingFields(tool, dialect, this.system.toolNames);
        return missing !== undefined && this.isNew(`${dialect} ${tool.name}`) ? [missing] : [];
      }),
    );
    if (gaps.length === 0) return;
    const message = `Hooks of other programs may read arguments that tools lack: ${gaps.join('; ')}. Map the arguments in \`toolNames\`, such as { name: 'Write', args: { path: 'file_path' } }.`;
    this.system.report({ level: 'warning', code: 'args-unmapped', message });
  }

  /**
   * Returns a message for each unknown tool name of a hook. A hook of another program may name tools that do not exist
   * here, so it is reported only if all its names are unknown.
   */
  private unknownNames(hook: ShellHook, tools: readonly CheckedTool[]): readonly string[] {
    const { toolNames } = this.system;
    if (!namesTools(hook)) return [];
    const isForeign = dialectOf(hook.dialect).hasForeignTools;
    // Without `toolNames`, the loader has already reported `tools-unnamed`.
    if (isForeign && toolNames[hook.dialect] === undefined) return [];
    const known = tools.flatMap(({ name }) => namesOf(name, hook, toolNames));
    const prefixes = this.host.toolPrefixes();
    if (hook.pattern !== undefined) {
      const isAwaited = prefixes.some((prefix) => hook.matcher?.includes(prefix));
      return isAwaited || hook.matches(known) ? [] : [`the pattern \`${hook.matcher}\` matches no tool`];
    }
    const unknown = unknownToolNames(hook.names, { tools: known.map((name) => ({ name })), prefixes });
    return isForeign && unknown.length < hook.names.length ? [] : unknown;
  }
}

/** True if the matcher of a hook selects some tools by their names, so that a wrong name can be reported. */
function namesTools(hook: ShellHook): boolean {
  const { event, names, pattern } = hook;
  const isForTools = isToolEvent(event) && namedEventOf(hook)?.subject === undefined;
  return names.length > 0 || (pattern !== undefined && isForTools);
}

/** Describes the documented arguments that a mapped tool lacks. Undefined if the tool lacks none. */
function missingFields(tool: CheckedTool, dialect: HookDialect, toolNames: ToolNames): string | undefined {
  const mapped = toolNames[dialect];
  const { properties } = tool.inputSchema;
  // A schema without `properties` does not say which arguments the tool reads.
  if (mapped === undefined || !isObject(properties) || Object.keys(properties).length === 0) return undefined;
  const name = shownToolName({ dialect }, tool.name, toolNames);
  const { tools } = dialectOf(dialect).facts;
  const documented = (Object.hasOwn(tools, name) && tools[name]?.args) || [];
  const given = Object.keys(shownArgs({ dialect }, { tool: tool.name, args: properties }, toolNames) as object);
  const missing = documented.filter((field) => !given.includes(field));
  return missing.length === 0 ? undefined : `"${tool.name}", mapped to ${name}, has no ${missing.join(' and no ')}`;
}

/** Returns a problem if a hook names tools of another program; undefined otherwise. */
function namedTools(
  hook: Pick<ShellHook, 'dialect' | 'dialectEvent' | 'event' | 'matcher' | 'condition'>,
): UnnamedTools | undefined {
  const { dialect, matcher = '*', condition = '*' } = hook;
  if (!dialectOf(dialect).hasForeignTools) return undefined;
  const { tools } = namedEventOf(hook) ?? {};
  if (tools === 'mcp') return undefined;
  if (tools !== undefined) {
    return { level: 'error', problem: `its hooks at ${hook.dialectEvent} are for the ${dialect} tool ${tools}.` };
  }
  const isNamed = [matcher, condition].some((text) => !/^(?:\*|\.\*|mcp_.*|MCP:.*|)$/.test(text.trim()));
  return isToolEvent(hook.event) && isNamed
    ? { level: 'warning', problem: `its hooks name tools of ${dialect}.` }
    : undefined;
}
