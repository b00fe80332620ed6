import { describeValue, LifecycleInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { unknownMembers } from '../internal/options/misspelt-hooks.js';
import { boolean, callable, fullText, having, numberRule, oneOf, timerMs } from '../internal/options/rules.js';
import { memberProblems, type OptionTable } from '../internal/options/validate.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import type { AgentLifecycle } from './lifecycle.js';

type FailurePolicy = 'throw' | 'continue' | 'block';

/** A checked lifecycle with defaults applied. */
export interface RegisteredLifecycle {
  readonly lifecycle: AgentLifecycle<never>;
  readonly name: string;
  readonly priority: number;
  readonly onFailure: FailurePolicy;
  readonly timeoutMs: number | undefined;
  /**
   * The state of the lifecycle. All copies share it. `inert` is true once the lifecycle is removed, so that its hooks
   * are not called.
   */
  readonly status: { inert: boolean };
  /** The position in the order in which the hooks of the lifecycles are called. */
  readonly index: number;
}

/** The names of all hooks of a lifecycle. */
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

/**
 * The valid hook names, and the hook names of other libraries (docs/hooks-map.md) with the valid name that the error
 * message suggests.
 */
const NAMES = {
  hooks: HOOKS,
  foreign: [
    ['wrapToolCall', /^((before|after|on|wrap)tool(call|use|start|end|execute)?|toolexecute(before|after))$/],
    ['wrapToolCall', /^((pre|post)tooluse(failure)?|(before|after)(shell|mcp)execution|beforereadfile|afterfileedit)$/],
    ['wrapToolCall', /^((before|after)subagent|subagent(start|stop))$/],
    ['beforeModel', /^((before|on)(model|llm)(call|start)|oninputmessages)$/],
    ['wrapModelCall', /^experimentalchatsystemtransform$/],
    ['afterModel', /^((after|on)(model|llm)(call|end)|onllmoutput)$/],
    ['beforeAgent', /^(beforerun|on(agent|run)?start|(before|chat)message|userpromptsubmit(ted)?|beforesubmitprompt)$/],
    ['afterAgent', /^(afterrun|on(agent|run)?end|after(agent)?response|(agent)?stop)$/],
    ['onSessionStart`, `afterAgent`, `onError` or `onSessionEnd', /^event$/],
    ['onShutdown', /^dispose$/],
    ['onError', /^(stopfailure|erroroccurred)$/],
    [
      undefined,
      /^(notification|beforecompaction|(pre|post)compact|precompress|posttoolbatch|permission(request|denied))$/,
    ],
  ],
} as const;

const memberRules = {
  ...(Object.fromEntries(HOOKS.map((hook) => [hook, callable])) as Record<(typeof HOOKS)[number], typeof callable>),
  name: fullText,
  priority: numberRule('a number from 0 to 100', 0, 100),
  onFailure: oneOf('throw', 'continue', 'block'),
  timeoutMs: timerMs,
  holdStream: {
    expected: 'a boolean or a function',
    accepts: (value) => boolean.accepts(value) || callable.accepts(value),
  },
  tools: having('an array of tools or a live tool set', {}),
} satisfies OptionTable<AgentLifecycle>;

/**
 * A class instance that is a lifecycle. Accepts any `type` of a returned action, because TypeScript widens it to
 * `string` in a class method.
 */
type ClassLifecycle<Context> = {
  readonly [Member in keyof AgentLifecycle<Context>]: Loose<AgentLifecycle<Context>[Member]>;
};
type Loose<Member> = Member extends (...given: infer Given) => infer Result
  ? (...given: Given) => Awaitable<Awaited<Result> | { readonly type: string }>
  : Member;

/**
 * Checks a lifecycle and returns it with its own type, so that a unit test can call its hooks.
 * Throws LifecycleInvalidError if a member is unknown or invalid.
 *
 * @example
 * const polite = defineLifecycle({
 *   name: 'polite',
 *   beforeAgent: (input) => `${input} Please keep it short.`,
 * });
 * expect(polite.beforeAgent('Hello.')).toBe('Hello. Please keep it short.');
 */
export function defineLifecycle<Lifecycle extends AgentLifecycle>(lifecycle: Lifecycle): Lifecycle;
/** Overload for hooks that read the `context` of a run: `defineLifecycle<Caller>({ … })`. */
export function defineLifecycle<Context>(lifecycle: AgentLifecycle<Context>): AgentLifecycle<Context>;
/** Overload for a class instance whose methods return plain actions, such as `{ type: 'reject', reason }`. */
export function defineLifecycle<Context>(lifecycle: ClassLifecycle<Context>): AgentLifecycle<Context>;
export function defineLifecycle(lifecycle: object): object {
  return registerLifecycle(lifecycle, 1).lifecycle;
}

/** Checks a lifecycle and applies the defaults. `order` is the number in the default name. */
export function registerLifecycle(lifecycle: AgentLifecycle<never>, order: number): RegisteredLifecycle {
  const problems = problemsOf(lifecycle);
  const name = nameOf(lifecycle, order);
  if (problems.length > 0) throw new LifecycleInvalidError(name, problems);
  const { priority = 50, onFailure = 'throw', timeoutMs } = lifecycle;
  const policy = onFailure as FailurePolicy;
  return { lifecycle, name, priority, onFailure: policy, timeoutMs, status: { inert: false }, index: 0 };
}

function nameOf(lifecycle: AgentLifecycle<never>, order: number): string {
  if (typeof lifecycle?.name === 'string' && lifecycle.name !== '') return lifecycle.name;
  const className = lifecycle?.constructor?.name;
  return `${className && className !== 'Object' ? className : 'lifecycle'}#${order}`;
}

function problemsOf(lifecycle: AgentLifecycle<never>): string[] {
  if (typeof lifecycle === 'function') {
    return ['it must be an object, got a function; pass an instance of the class, or call the function first'];
  }
  if (!isObject(lifecycle)) return [`it must be an object, got ${describeValue(lifecycle)}`];
  if (isPromise(lifecycle)) return ['it must be an object, got a promise; await it first'];
  return [...unknownMembers(lifecycle, NAMES, Object.keys(memberRules)), ...memberProblems(lifecycle, memberRules)];
}
