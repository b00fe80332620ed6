import { describeValue, LifecycleInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { distance, fold } from '../internal/options/nearest-name.js';
import { boolean, callable, fullText, having, numberRule, oneOf, timerMs } from '../internal/options/rules.js';
import { memberProblems, type OptionTable, unknownName } from '../internal/options/validate.js';
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

const memberRules = {
  ...(Object.fromEntries(HOOKS.map((hook) => [hook, callable])) as Record<(typeof HOOKS)[number], typeof callable>),
  name: fullText,
  priority: numberRule('a number from 0 to 100', 0, 100),
  onFailure: oneOf('throw', 'continue', 'block'),
  timeoutMs: timerMs,
  holdStream: boolean,
  tools: having('an array of tools or a live tool set', {}),
} satisfies OptionTable<AgentLifecycle>;

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
  if (typeof lifecycle === 'function') {
    return ['it must be an object, got a function; pass an instance of the class, or what the function returns'];
  }
  if (!isObject(lifecycle)) return [`it must be an object, got ${describeValue(lifecycle)}`];
  if (isPromise(lifecycle)) return ['it must be an object, got a promise; await it first'];
  return [...unknownKeys(lifecycle), ...memberProblems(lifecycle, memberRules)];
}

/** A class may have members of its own; in a literal, an unknown one is most likely a misspelt hook. */
function unknownKeys(lifecycle: object): string[] {
  const prototype = Object.getPrototypeOf(lifecycle);
  const isLiteral = prototype === Object.prototype || prototype === null;
  const own = Object.keys(lifecycle);
  const keys = isLiteral ? own : [...own, ...memberNames(prototype)].filter(looksLikeHook);
  return keys
    .filter((key) => !Object.hasOwn(memberRules, key))
    .map((key) => unknownName('member', key, Object.keys(memberRules)));
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
