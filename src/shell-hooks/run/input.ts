import { dialectEventOf, toolNameIn } from '../dialects/dialect.js';
import type { EventFields, ToolNames } from '../events/hook-event-context.js';
import type { ShellHook } from '../hook/definition.js';
import type { EventProgress } from './event-progress.js';
import { fold, redact } from './plain-json.js';

/** What the input of every hook has in common. */
export interface HookInputSource {
  /** What the event says of itself. */
  readonly fields: EventFields;
  readonly workspaceDir: string;
  readonly toolNames: ToolNames;
  /** Names of fields that only hooks which declare them get. */
  readonly sensitive: readonly string[];
  readonly now: () => number;
}

/**
 * The document that a hook gets on its standard input: the event under `data`, what earlier hooks said, and the fields
 * that hooks of other programs look for.
 */
export function hookInput<Value>(hook: ShellHook, progress: EventProgress<Value>, source: HookInputSource): object {
  const { context, data: hookData, outputs } = progress;
  const { data, flat, gemini } = source.fields;
  const { sensitive, workspaceDir } = source;
  const declared = new Set(hook.sensitive?.map(fold));
  const hidden = sensitive.filter((name) => !declared.has(fold(name)));
  const shown = redact({ ...flat, ...(hook.dialect === 'gemini' && gemini?.()), data }, hidden) as object;
  return {
    ...shown,
    ...(context.tool !== undefined && { tool_name: shownToolName(hook, context.tool, source.toolNames) }),
    event: context.event,
    hook_event_name: dialectEventOf(hook),
    session_id: context.sessionId,
    transcript_path: '',
    cwd: workspaceDir,
    permission_mode: 'default',
    timestamp: new Date(source.now()).toISOString(),
    hook_data: hookData,
    hook_outputs: outputs,
  };
}

/** How a tool is called in the dialect of a hook. */
export function shownToolName({ dialect }: Pick<ShellHook, 'dialect'>, tool: string, names: ToolNames): string {
  const known = names[dialect];
  return known !== undefined && Object.hasOwn(known, tool) ? (known[tool] as string) : toolNameIn(dialect, tool);
}
