/**
 * The events that a hook can stand at, in the order of a run.
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
] as const;

/** A point in the life of a session at which hooks run. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Whether a value names an event. */
export function isHookEvent(value: unknown): value is HookEvent {
  return (HOOK_EVENTS as readonly unknown[]).includes(value);
}

/** Whether a hook at this event can stop something: such a one is missed when it does not run. */
export function isGateEvent(event: HookEvent): boolean {
  return event !== 'session_start' && event !== 'session_end';
}

/** Whose rules a hook follows: those of this library, or those of the program that its file was written for. */
export type HookDialect = 'native' | 'claude' | 'codex' | 'gemini' | 'cursor' | 'copilot';
