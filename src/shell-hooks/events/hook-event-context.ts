import type { ShellHook } from '../hook/definition.js';
import type { HookEffects } from '../hook/effects.js';
import type { HookDialect, HookEvent } from '../hook/event.js';

/** What an event says of itself. */
export interface EventFields {
  /** The fields of the event, under `data`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The same and more at the top, in the words of other programs. */
  readonly flat?: Readonly<Record<string, unknown>> | undefined;
  /** What only hooks of Gemini CLI get: it holds the whole conversation once more. */
  readonly gemini?: (() => Readonly<Record<string, unknown>>) | undefined;
}

/** One event, about one value that its hooks may rewrite. */
export interface HookEventContext<Value = unknown> {
  readonly event: HookEvent;
  readonly sessionId: string;
  readonly value: Value;
  /** What hooks are told of the value as it is. */
  readonly describe: (value: Value) => EventFields;
  /** What the value becomes by what a hook wants; the same value where it wants nothing of it. */
  readonly rewrite?: ((value: Value, effects: HookEffects) => Value) | undefined;
  /** The tool, at a tool event. */
  readonly tool?: string | undefined;
  /** Whether the tool failed, at `after_tool`. */
  readonly isError?: boolean | undefined;
  /** Why a session starts or ends, as Claude Code and Gemini CLI call it. */
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What decides which hooks of an event run. */
export type HookMatchInput = Pick<HookEventContext, 'event' | 'tool' | 'isError' | 'source'>;

/** How tools are called elsewhere: for each dialect, from our name to that one. */
export type ToolNames = Readonly<Partial<Record<HookDialect, Readonly<Record<string, string>>>>>;

/** Whether a hook is for this. */
export function isFor(hook: ShellHook, subject: HookMatchInput, names: readonly string[]): boolean {
  const { isError } = subject;
  if (hook.dialectEvent === 'PostToolUse' && isError) return false;
  if (hook.dialectEvent === 'PostToolUseFailure' && !isError) return false;
  return isMatched(hook, subject, names);
}

/** Whether its matcher fits. It looks at tools; in other dialects also at why a session starts or ends. */
export function isMatched(
  { dialect, matches }: ShellHook,
  { event, tool, source }: HookMatchInput,
  names: readonly string[],
): boolean {
  if (tool !== undefined) return matches(names);
  const isSession = event === 'session_start' || event === 'session_end';
  return dialect === 'native' || !isSession || source === undefined || matches([source]);
}
