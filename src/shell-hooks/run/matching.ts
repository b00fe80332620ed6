import type { HookEvent } from '../../programs/hook-event.js';
import { commandIn } from '../dialects/input-values.js';
import { dialectOf, namedEventOf } from '../dialects/list.js';
import { ownPart, shownArgs, shownToolName } from '../dialects/tool-names.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookMatchInput, ToolNames } from '../hook/event-context.js';
import { compilePermissionRule } from '../rule/permission-rule.js';
import type { EventProgress } from './event-progress.js';

/**
 * Returns the names that a matcher is tested with: the tool's name here, and its name in the hook's dialect. Adds the
 * further names of a tool of the hook's own extension package, and the alias of the hook's event.
 */
export function namesOf(
  tool: string | undefined,
  hook: Pick<ShellHook, 'dialect' | 'dialectEvent' | 'extension'>,
  names: ToolNames,
): readonly string[] {
  if (tool === undefined) return [];
  const { aliases } = namedEventOf(hook)?.aliases ? dialectOf(hook.dialect) : {};
  return [tool, ...ownNames(tool, hook)].flatMap((name) => {
    const shown = shownToolName({ dialect: hook.dialect }, name, names);
    return [name, shown, ...(aliases?.(shown) ?? [])];
  });
}

/**
 * Returns the names of a tool of the hook's own extension package: without the name of the package, and as the program
 * of the hook names it.
 */
function ownNames(tool: string, { extension, dialect }: Pick<ShellHook, 'dialect' | 'extension'>): readonly string[] {
  if (extension === undefined) return [];
  const rest = ownPart(tool, extension);
  if (rest === undefined) return [];
  return dialectOf(dialect).pluginNames(extension, rest);
}

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
    // If the subject is unknown the hook runs, because a skipped guard is worse than an unnecessary run.
    return subject === undefined || hook.matches([subject]);
  }
  const { matchesSources } = dialectOf(hook.dialect);
  return !matchesSources || source === undefined || hook.matches(sourcesOf(event, source));
}

/**
 * Returns true if the condition of a hook holds for the tool call as earlier hooks have changed it. A condition never
 * holds at an event without a tool.
 */
export function isWanted<Value>(
  hook: ShellHook,
  { context, value }: Pick<EventProgress<Value>, 'context' | 'value'>,
  { toolNames, workspaceDir }: { readonly toolNames: ToolNames; readonly workspaceDir: string },
): boolean {
  if (hook.condition === undefined) return true;
  if (context.tool === undefined) return false;
  const { tool } = context;
  const { args: current = context.args } = context.describe(value).data;
  const args = shownArgs(hook, { tool, args: current }, toolNames);
  const call = { names: namesOf(tool, hook, toolNames), args, workspaceDir };
  return compilePermissionRule(hook.condition)?.(call) ?? true;
}

/** Gemini CLI has another name for a notification about an approval. */
function sourcesOf(event: HookEvent, source: string): readonly string[] {
  return event === 'notification' ? [source, 'ToolPermission'] : [source];
}
