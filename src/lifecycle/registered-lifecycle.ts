import { describeValue, LifecycleInvalidError } from '../errors.js';
import { isTimerMs, MAX_TIMER_MS } from '../internal/clock.js';
import { isPromise } from '../internal/promise.js';
import type { AgentLifecycle } from './lifecycle.js';

/** A lifecycle as it stands in an agent's list. */
export interface RegisteredLifecycle {
  readonly lifecycle: AgentLifecycle<never>;
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  readonly timeoutMs: number | undefined;
  /** Shared by every chain that holds it: once it is removed, none of its callbacks is called. */
  readonly status: { inert: boolean };
  /** Its place in the order of the chain. */
  readonly index: number;
}

/** The members of a lifecycle that are called. */
export const HOOKS = [
  'onInit',
  'onSessionStart',
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'wrapModelCall',
  'afterModel',
  'wrapToolCall',
  'afterAgent',
  'onError',
  'onSessionEnd',
  'onShutdown',
] as const satisfies readonly (keyof AgentLifecycle)[];
const MEMBERS: readonly string[] = [...HOOKS, 'name', 'priority', 'onFailure', 'timeoutMs', 'holdStream', 'tools'];

/** Checks a lifecycle and fills its defaults. `order` numbers those that have no name of their own. */
export function registerLifecycle(lifecycle: AgentLifecycle<never>, order: number): RegisteredLifecycle {
  const problems = problemsOf(lifecycle);
  const name = nameOf(lifecycle, order);
  if (problems.length > 0) throw new LifecycleInvalidError(name, problems);
  const { priority = 50, onFailure = 'throw', timeoutMs } = lifecycle;
  return { lifecycle, name, priority, onFailure, timeoutMs, status: { inert: false }, index: 0 };
}

function nameOf(lifecycle: AgentLifecycle<never>, order: number): string {
  if (typeof lifecycle?.name === 'string' && lifecycle.name !== '') return lifecycle.name;
  const className = lifecycle?.constructor?.name;
  return `${className && className !== 'Object' ? className : 'lifecycle'}#${order}`;
}

function problemsOf(lifecycle: AgentLifecycle<never>): string[] {
  if (typeof lifecycle === 'function')
    return ['it is a function; pass an instance of the class, or what the function returns'];
  if (typeof lifecycle !== 'object' || lifecycle === null) return [`it is ${describeValue(lifecycle)}, not an object`];
  if (Array.isArray(lifecycle)) return ['it is an array; pass its members one by one'];
  if (isPromise(lifecycle)) return ['it is a promise; await it first'];
  return [...unknownKeys(lifecycle), ...wrongHooks(lifecycle), ...wrongSettings(lifecycle)];
}

/** A class may have members of its own; in a literal, an unknown one is most likely a misspelt hook. */
function unknownKeys(lifecycle: object): string[] {
  const prototype = Object.getPrototypeOf(lifecycle);
  const isLiteral = prototype === Object.prototype || prototype === null;
  const own = Object.keys(lifecycle);
  const keys = isLiteral ? own : [...own, ...memberNames(prototype)].filter(looksLikeHook);
  return keys
    .filter((key) => !MEMBERS.includes(key))
    .map((key) => `\`${key}\` is no member of a lifecycle${suggestion(key)}`);
}

function memberNames(prototype: object): string[] {
  const names: string[] = [];
  for (let level = prototype; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level)) {
    names.push(...Object.getOwnPropertyNames(level).filter((name) => name !== 'constructor'));
  }
  return names;
}

/** A class's method that is one slip away from a hook: same letters but for case and underscores, or one edit away. */
function looksLikeHook(key: string): boolean {
  return HOOKS.some((hook) => distance(fold(key), fold(hook)) <= 1);
}

function suggestion(key: string): string {
  const near = MEMBERS.find((name) => distance(fold(key), fold(name)) <= 2);
  return near === undefined ? '' : `; did you mean \`${near}\`?`;
}

function fold(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** Levenshtein distance, by one row. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

function wrongHooks(lifecycle: AgentLifecycle<never>): string[] {
  const members = lifecycle as Readonly<Record<string, unknown>>;
  return HOOKS.filter((key) => members[key] !== undefined && typeof members[key] !== 'function').map(
    (key) => `\`${key}\` is ${describeValue(members[key])}, not a function`,
  );
}

function wrongSettings({ name, priority, onFailure, timeoutMs, holdStream, tools }: AgentLifecycle<never>): string[] {
  const problems: string[] = [];
  const refuse = (key: string, value: unknown, expected: string) =>
    problems.push(`\`${key}\` is ${describeValue(value)}; it is ${expected}`);
  if (name !== undefined && (typeof name !== 'string' || name === '')) problems.push('`name` is no text');
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 100)) {
    refuse('priority', priority, 'a number from 0 to 100');
  }
  if (onFailure !== undefined && !['throw', 'continue', 'block'].includes(onFailure)) {
    refuse('onFailure', onFailure, "'throw', 'continue' or 'block'");
  }
  if (timeoutMs !== undefined && !isTimerMs(timeoutMs)) {
    refuse('timeoutMs', timeoutMs, `milliseconds from 1 to ${MAX_TIMER_MS}`);
  }
  if (holdStream !== undefined && typeof holdStream !== 'boolean') problems.push('`holdStream` is no boolean');
  if (tools !== undefined && (typeof tools !== 'object' || tools === null)) problems.push('`tools` is no tool source');
  return problems;
}
