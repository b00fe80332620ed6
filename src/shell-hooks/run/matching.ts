import { isObject } from '../../internal/json.js';
import { dialectOf, namedEventOf } from '../dialects/dialect.js';
import { commandIn } from '../dialects/input-values.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects } from '../hook/effects.js';
import type { HookEventContext, HookMatchInput, ToolNames } from '../hook/event-context.js';

/** Returns true if a hook runs: its matcher matches, and its dialect event accepts a tool result of this status. */
export function isFor(hook: ShellHook, match: HookMatchInput, toolNames: ToolNames): boolean {
  const { isError = false } = match;
  const named = namedEventOf(hook);
  if (named?.after !== undefined && (named.after === 'failure') !== isError) return false;
  return isMatched(hook, match, toolNames);
}

/**
 * Returns true if the matcher matches. The matcher is tested with the names of the tool, or with the subject of the
 * dialect event. At an event without a tool, the matcher is tested with the `source` of the event.
 */
export function isMatched(hook: ShellHook, match: HookMatchInput, toolNames: ToolNames): boolean {
  const { event, tool, source, args } = match;
  const named = namedEventOf(hook);
  if (tool !== undefined) {
    const names = namesOf(tool, hook, toolNames);
    if (named?.tools === 'mcp' && !tool.startsWith('mcp__')) return false;
    if (named?.tools !== undefined && named.tools !== 'mcp' && !names.includes(named.tools)) return false;
    if (named?.subject === undefined) return hook.matches(names);
    const subject = commandIn(shownArgs(hook, { tool, args }, toolNames));
    // If the subject is unknown, the hook runs, because a skipped guard is worse than an unnecessary run.
    return subject === undefined || hook.matches([subject]);
  }
  const { matchesSources } = dialectOf(hook.dialect).facts;
  if (!matchesSources || source === undefined) return true;
  // Gemini CLI has another name for a notification about an approval.
  return hook.matches(event === 'notification' ? [source, 'ToolPermission'] : [source]);
}

/**
 * Returns true if the condition of a hook holds for the tool call as earlier hooks have changed it. A condition never
 * holds at an event without a tool.
 */
export function isWanted<Value>(
  hook: ShellHook,
  { context, value }: { readonly context: HookEventContext<Value>; readonly value: Value },
  { toolNames, workspaceDir }: { readonly toolNames: ToolNames; readonly workspaceDir: string },
): boolean {
  if (hook.covers === undefined) return true;
  if (context.tool === undefined) return false;
  const { tool } = context;
  const { args: current = context.args } = context.describe(value).data;
  const args = shownArgs(hook, { tool, args: current }, toolNames);
  return hook.covers({ names: namesOf(tool, hook, toolNames), args, workspaceDir });
}

/**
 * Returns the names that a matcher is tested with: the tool's own name, and its name in the hook's dialect. Adds the
 * further names of a tool of the hook's own extension package, and the alias of the hook's event.
 */
export function namesOf(
  tool: string,
  hook: Pick<ShellHook, 'dialect' | 'dialectEvent' | 'extension'>,
  names: ToolNames,
): readonly string[] {
  const { dialect, extension } = hook;
  const { aliases, pluginNames } = dialectOf(dialect);
  const own = extension === undefined ? undefined : ownPart(tool, extension);
  const known = extension === undefined || own === undefined ? [tool] : [tool, ...pluginNames(extension, own)];
  return known.flatMap((name) => {
    const shown = shownToolName({ dialect }, name, names);
    return [name, shown, ...(namedEventOf(hook)?.aliases ? aliases(shown) : [])];
  });
}

type ForDialect = Pick<ShellHook, 'dialect'>;
type ForHook = ForDialect & Partial<Pick<ShellHook, 'extension'>>;

/**
 * Returns the name of a tool in the hook's dialect. A name in `toolNames` takes precedence over the dialect's own rule.
 * A hook of an extension package reads the name that its program gives to a tool of the package's own servers.
 */
export function shownToolName(hook: ForHook, tool: string, names: ToolNames): string {
  const mapping = mappingOf(hook, tool, names);
  if (mapping !== undefined) return typeof mapping === 'string' ? mapping : mapping.name;
  const dialect = dialectOf(hook.dialect);
  const { extension } = hook;
  if (!dialect.hasForeignTools) return tool;
  const own = extension === undefined ? undefined : ownPart(tool, extension);
  if (extension === undefined || own === undefined) return dialect.toolName(tool);
  return dialect.pluginTool(extension, own);
}

/**
 * Returns `server__tool` for a tool of the extension's own servers. The id of a server is `package-server`, or `package`
 * if both have the same name.
 */
function ownPart(tool: string, extension: string): string | undefined {
  if (tool.startsWith(`mcp__${extension}-`)) return tool.slice(`mcp__${extension}-`.length);
  return tool.startsWith(`mcp__${extension}__`) ? tool.slice('mcp__'.length) : undefined;
}

/**
 * Returns the arguments of a tool call under their names in the hook's dialect. With `{ path: 'file_path' }`, the
 * dialect's `file_path` is the tool's `path`. If the model wrote an argument `file_path` too, that argument is left
 * out.
 */
export function shownArgs(hook: ForDialect, { tool, args }: NamedCall, names: ToolNames): unknown {
  const argNames = argNamesOf(hook, tool, names);
  return argNames === undefined ? args : renamed(args, argNames);
}

/** Returns the effects of a hook, with changed arguments under the names that the tool reads. */
export function withOwnArgs(
  hook: ForDialect,
  { tool, effects }: { readonly tool: string | undefined; readonly effects: HookEffects },
  names: ToolNames,
): HookEffects {
  const argNames = argNamesOf(hook, tool, names);
  if (argNames === undefined) return effects;
  const own = new Map([...argNames].map(([name, shown]) => [shown, name]));
  const { input, inputChanges } = effects;
  return { ...effects, input: renamed(input, own), inputChanges: renamed(inputChanges, own) };
}

/** A tool name, and arguments that may be invalid. */
export interface NamedCall {
  readonly tool: string | undefined;
  readonly args: unknown;
}

function mappingOf({ dialect }: ForDialect, tool: string, names: ToolNames) {
  const known = names[dialect];
  return known !== undefined && Object.hasOwn(known, tool) ? known[tool] : undefined;
}

/** Maps the name of each renamed argument to its name in the dialect. Undefined if no argument is renamed. */
function argNamesOf(
  hook: ForDialect,
  tool: string | undefined,
  names: ToolNames,
): ReadonlyMap<string, string> | undefined {
  const mapping = tool === undefined ? undefined : mappingOf(hook, tool, names);
  if (mapping === undefined || typeof mapping === 'string' || mapping.args === undefined) return undefined;
  return new Map(Object.entries(mapping.args));
}

/** Renames keys of an object. A renamed key replaces another key with its new name. Returns other values unchanged. */
function renamed<Value>(value: Value, names: ReadonlyMap<string, string>): Value {
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  const taken = new Set(keys.flatMap((key) => names.get(key) ?? []));
  const kept = keys.filter((key) => names.has(key) || !taken.has(key));
  return Object.fromEntries(kept.map((key) => [names.get(key) ?? key, value[key]])) as Value;
}
