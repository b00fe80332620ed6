/**
 * The names of all hook events. The first nine occur in each run of a session, in this order.
 *
 * @example
 * const isHookEvent = (name: string) => HOOK_EVENTS.some((event) => event === name);
 */
export const HOOK_EVENTS = [
  'session_start',
  'before_agent',
  'before_model',
  'before_tool_selection',
  'after_model',
  'before_tool',
  'after_tool',
  'after_agent',
  'session_end',
  'notification',
  'before_subagent',
  'after_subagent',
  'before_compaction',
  'after_compaction',
  'after_tools',
  'permission_request',
  'permission_denied',
  'run_failed',
] as const;

/** The name of an event at which shell hooks run. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Returns true if the value is the name of a hook event. */
export function isHookEvent(value: unknown): value is HookEvent {
  return (HOOK_EVENTS as readonly unknown[]).includes(value);
}

const NOTICES: readonly HookEvent[] = [
  'session_start',
  'session_end',
  'notification',
  'after_compaction',
  'permission_denied',
  'run_failed',
];

/**
 * Returns true for events at which a hook can refuse the action, so that a failed hook is the loss of a guard. At other
 * events the action continues, except that a hook of `session_start` can refuse a session with `continue: false`.
 */
export function isGateEvent(event: HookEvent): boolean {
  return !NOTICES.includes(event);
}

/** Returns true for events about one tool call. The matchers of hooks compare the name of the tool at these events. */
export function isToolEvent(event: HookEvent): boolean {
  return event.endsWith('_tool') || event.startsWith('permission_');
}

/**
 * Returns true for events that a hook blocks if it cannot be started for lack of resources, or if it writes too much
 * output.
 */
export function isEntryEvent(event: HookEvent): boolean {
  return event === 'before_tool' || event === 'before_agent' || event === 'permission_request';
}

/**
 * The format of a hook. `native` is Keelson's own format; each other format is named after the program that defines it.
 */
export type HookDialect = 'native' | 'claude' | 'codex' | 'gemini' | 'cursor' | 'copilot';
