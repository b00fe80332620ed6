import { describeValue, LifecycleInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { misspeltHook, misspeltHooks } from '../internal/options/misspelt-hooks.js';
import { boolean, callable, fullText, having, numberRule, oneOf, timerMs } from '../internal/options/rules.js';
import { memberProblems, type OptionTable, unknownName } from '../internal/options/validate.js';
import { isPlainObject } from '../internal/plain-data.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
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

/** Names of hooks in other libraries. */
const NAMES = {
  hooks: HOOKS,
  foreign: [
    ['wrapToolCall', /^(before|after|on|wrap)tool(call|use|start|end)?$/],
    ['beforeModel', /^(before|on)(model|llm)(call|start)$/],
    ['afterModel', /^(after|on)(model|llm)(call|end)$/],
    ['beforeAgent', /^(beforerun|on(agent|run)?start)$/],
    ['afterAgent', /^(afterrun|on(agent|run)?end)$/],
  ],
} as const;

const memberRules = {
  ...(Object.fromEntries(HOOKS.map((hook) => [hook, callable])) as Record<(typeof HOOKS)[number], typeof callable>),
  name: fullText,
  priority: numberRule('a number from 0 to 100', 0, 100),
  onFailure: oneOf('throw', 'continue', 'block'),
  timeoutMs: timerMs,
  holdStream: boolean,
  tools: having('an array of tools or a live tool set', {}),
} satisfies OptionTable<AgentLifecycle>;

/** The compiler widens the `onFailure` of a class to `string`, and the `type` of an action in its method. */
type ClassLifecycle<Context> = {
  readonly [Member in keyof AgentLifecycle<Context>]: Loose<AgentLifecycle<Context>[Member]>;
};
type Loose<Member> = Member extends 'throw' | 'continue' | 'block'
  ? string
  : Member extends (...given: infer Given) => infer Result
    ? (...given: Given) => Awaitable<Awaited<Result> | { readonly type: string }>
    : Member;

/** Fails to compile when the policy of a literal is unknown. */
type KnownPolicy<Policy> = string extends Policy ? unknown : Pick<AgentLifecycle, 'onFailure'>;

/**
 * Checks a lifecycle where it is written, and gives it back with its own type, so that a unit test can call its hooks.
 * Throws LifecycleInvalidError when a member is unknown or invalid.
 *
 * @example
 * const polite = defineLifecycle({
 *   name: 'polite',
 *   beforeAgent: (input) => `${input} Please keep it short.`,
 * });
 * expect(polite.beforeAgent('Hello.')).toBe('Hello. Please keep it short.');
 */
export function defineLifecycle<Lifecycle extends AgentLifecycle>(lifecycle: Lifecycle): Lifecycle;
/** For hooks that use the context of a run: `defineLifecycle<Caller>({ … })`. */
export function defineLifecycle<Context>(lifecycle: AgentLifecycle<Context>): AgentLifecycle<Context>;
/** For an instance of a class: its `onFailure`, and the `type` of the actions that it returns, may be any `string`. */
export function defineLifecycle<Context, Policy extends string>(
  lifecycle: ClassLifecycle<Context> & { readonly onFailure?: Policy } & KnownPolicy<Policy>,
): AgentLifecycle<Context>;
export function defineLifecycle(lifecycle: object): object {
  return registerLifecycle(lifecycle, 1).lifecycle;
}

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
  if (!isPlainObject(lifecycle)) return misspeltHooks(lifecycle, NAMES);
  return Object.keys(lifecycle)
    .filter((key) => !Object.hasOwn(memberRules, key))
    .map((key) => misspeltHook(key, NAMES) ?? unknownName('member', key, Object.keys(memberRules)));
}
