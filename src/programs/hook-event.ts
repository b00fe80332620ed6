/**
 * Names of the hook events. The first nine occur in each run of a session, in this order.
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

/** Name of an event at which hooks run. */
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

/** Returns true for events at which hooks act as guards. At all other events, the answer of a hook decides nothing. */
export function isGateEvent(event: HookEvent): boolean {
  return !NOTICES.includes(event);
}

/** Returns true for events about one tool, whose name matchers test. */
export function isToolEvent(event: HookEvent): boolean {
  return event.endsWith('_tool') || event.startsWith('permission_');
}

/** Returns true for events whose hooks cancel if they cannot start for lack of resources, or if their output is cut. */
export function isEntryEvent(event: HookEvent): boolean {
  return event === 'before_tool' || event === 'before_agent' || event === 'permission_request';
}

/**
 * Format of a hook: `native` is the format of Keelson; the other formats belong to the programs they are named after.
 */
export type HookDialect = 'native' | 'claude' | 'codex' | 'gemini' | 'cursor' | 'copilot';
