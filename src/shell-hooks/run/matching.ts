import { dialectOf, namedEventOf } from '../dialects/list.js';
import type { HookMatchInput, ToolNames } from '../events/hook-event-context.js';
import type { ShellHook } from '../hook/definition.js';

/** The name of a tool in the dialect of a hook: the host's word for it, else the dialect's. */
export function shownToolName({ dialect }: Pick<ShellHook, 'dialect'>, tool: string, names: ToolNames): string {
  const known = names[dialect];
  if (known !== undefined && Object.hasOwn(known, tool)) return known[tool] as string;
  return dialectOf(dialect).toolName?.(tool) ?? tool;
}

/** The names that a matcher of a hook is tried on: ours, and that of the hook's dialect. */
export function namesOf(
  tool: string | undefined,
  hook: Pick<ShellHook, 'dialect'>,
  names: ToolNames,
): readonly string[] {
  return tool === undefined ? [] : [tool, shownToolName(hook, tool, names)];
}

/** Whether a hook of the event is for this tool, or for this reason to start or end a session. */
export function isFor(hook: ShellHook, match: HookMatchInput, toolNames: ToolNames): boolean {
  const { isError = false } = match;
  const named = namedEventOf(hook);
  if (named?.after !== undefined && (named.after === 'failure') !== isError) return false;
  return isMatched(hook, match, toolNames);
}

/** True if the matcher of a hook fits: a tool's name, its subject, or the reason to start or end a session. */
export function isMatched(hook: ShellHook, match: HookMatchInput, toolNames: ToolNames): boolean {
  const { event, tool, source, args } = match;
  const named = namedEventOf(hook);
  if (tool !== undefined) {
    const names = namesOf(tool, hook, toolNames);
    if (named?.tools === 'mcp' && !tool.startsWith('mcp__')) return false;
    if (named?.tools !== undefined && named.tools !== 'mcp' && !names.includes(named.tools)) return false;
    if (named?.subject === undefined) return hook.matches(names);
    const subject = named.subject(args);
    // A guard is rather asked once too often.
    return subject === undefined || hook.matches([subject]);
  }
  const isSession = event === 'session_start' || event === 'session_end';
  const { matchesSessions } = dialectOf(hook.dialect);
  return !matchesSessions || !isSession || source === undefined || hook.matches([source]);
}
