import { isObject } from '../../internal/json.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects } from '../hook/effects.js';
import type { ToolNames } from '../hook/event-context.js';
import { dialectOf } from './list.js';

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
export function ownPart(tool: string, extension: string): string | undefined {
  if (tool.startsWith(`mcp__${extension}-`)) return tool.slice(`mcp__${extension}-`.length);
  return tool.startsWith(`mcp__${extension}__`) ? tool.slice('mcp__'.length) : undefined;
}

/**
 * Returns the arguments of a tool call under their names in the hook's dialect. With `{ path: 'file_path' }`, the
 * dialect's `file_path` is the tool's `path`. An argument that the model itself has named `file_path` is left out then.
 */
export function shownArgs(hook: ForDialect, { tool, args }: NamedCall, names: ToolNames): unknown {
  const argNames = argNamesOf(hook, tool, names);
  return argNames === undefined ? args : renamed(args, argNames);
}

/** Returns the effects of a hook, with changed arguments under the names that the tool reads. */
export function withOwnArgs(hook: ForDialect, tool: string | undefined, names: ToolNames) {
  const argNames = argNamesOf(hook, tool, names);
  if (argNames === undefined) return (effects: HookEffects) => effects;
  const own = new Map([...argNames].map(([name, shown]) => [shown, name]));
  return (effects: HookEffects): HookEffects => {
    const { input, inputChanges } = effects;
    return { ...effects, input: renamed(input, own), inputChanges: renamed(inputChanges, own) };
  };
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
