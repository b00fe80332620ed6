import { distance } from '../../lifecycle/registered-lifecycle.js';

/** The events that a hook can stand at, in the order of a run. */
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

/** In how many letters a name may differ from the one that was meant. */
const FARTHEST = 3;

/** The name that was most likely meant. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  // Of another length by more it cannot be near, and comparing would take as long as it is.
  const alike = names.filter((other) => Math.abs(other.length - name.length) <= FARTHEST);
  const ranked = alike.map((other) => [distance(name.toLowerCase(), other.toLowerCase()), other] as const);
  const [best] = ranked.sort(([a], [b]) => a - b);
  return best !== undefined && best[0] <= FARTHEST ? best[1] : undefined;
}

/** Whose rules a hook follows: those of this library, or those of the program that its file was written for. */
export type HookDialect = 'native' | 'claude' | 'codex' | 'gemini' | 'cursor' | 'copilot';
