import { cloneData } from '../../internal/plain-data.js';
import { isPromise } from '../../internal/promise.js';
import type { AgentLifecycle, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { HOOKS } from '../../lifecycle/registered-lifecycle.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Report } from '../assert/lifecycle-fault.js';
import type { HookName } from '../recorder.js';
import { differenceOf } from './difference.js';

/** Wraps a lifecycle under test: passes every call on and checks it. */
export interface Observer {
  /** The wrapper to register instead of the lifecycle. */
  readonly lifecycle: AgentLifecycle;
  /** Records a problem. */
  readonly report: Report;
  /** Called before each hook, and again when a hook has returned a promise. */
  onStep: (step: string) => void;
  /** Delays the return of an asynchronous `beforeAgent`. Called when `beforeAgent` is pending. */
  holdEntry: (() => Promise<void>) | undefined;
  /** Returns the hooks that have not settled, except wraps that wait for `next`. */
  running(): readonly HookName[];
}

/** One call of a hook. */
interface HookCall {
  readonly hook: HookName;
  settled: boolean;
  /** Number of pending calls of `next`. */
  waiting: number;
  /** True if `next` rejected because the run was aborted. */
  aborted: boolean;
  readonly results: unknown[];
}

type Hook = (...args: readonly unknown[]) => unknown;
type Next = (request?: unknown) => Promise<unknown>;

/** Wraps a lifecycle in an observer. Hooks are called on the original lifecycle, so that `this` is unchanged. */
export function observeLifecycle(subject: AgentLifecycle<never>, report: Report): Observer {
  const calls = new Set<HookCall>();
  const { priority, onFailure, timeoutMs, holdStream, tools } = subject;
  const members: Record<string, unknown> = { name: nameOf(subject), priority, onFailure, timeoutMs, holdStream, tools };
  const observer: Observer = {
    lifecycle: members as AgentLifecycle,
    report,
    onStep: () => {},
    holdEntry: undefined,
    running: () => [...calls].filter((call) => call.waiting === 0).map((call) => call.hook),
  };
  for (const hook of HOOKS) {
    const own = subject[hook] as Hook | undefined;
    if (own === undefined) continue;
    members[hook] = (...args: readonly unknown[]) => {
      const call: HookCall = { hook, settled: false, waiting: 0, aborted: false, results: [] };
      calls.add(call);
      return callHook({ observer, call, close: () => calls.delete(call) }, own.bind(subject), args);
    };
  }
  return observer;
}

/** Returns the name that an agent would show for the lifecycle. */
export function nameOf(subject: AgentLifecycle<never>): string {
  const own = subject.name ?? subject.constructor?.name;
  return own === undefined || own === '' || own === 'Object' ? 'lifecycle' : own;
}

/** The step at which a delayed `beforeAgent` returns. */
export const DELAYED_ENTRY = 'beforeAgent, after a delay';

interface Watch {
  readonly observer: Observer;
  readonly call: HookCall;
  readonly close: () => void;
}

function callHook(watch: Watch, own: Hook, [first, second]: readonly unknown[]): unknown {
  const { observer, call } = watch;
  const before = cloneData(dataOf(call.hook, first));
  const settle = (value?: unknown) => {
    call.settled = true;
    watch.close();
    const change = differenceOf(dataOf(call.hook, first), before);
    if (change !== undefined) reportChange(watch, change);
    checkAnswer(watch, value);
    return value;
  };
  observer.onStep(call.hook);
  const isWrap = call.hook === 'wrapModelCall' || call.hook === 'wrapToolCall';
  try {
    const returned = own(first, isWrap ? watchNext(watch, second as Next) : second);
    if (!isPromise(returned)) return settle(returned);
    observer.onStep(`${call.hook}, while it is pending`);
    const held = call.hook === 'beforeAgent' ? heldEntry(observer, returned) : returned;
    return held.then(settle, (error) => fail(watch, error));
  } catch (error) {
    return fail(watch, error);
  }
}

function heldEntry(observer: Observer, returned: PromiseLike<unknown>): PromiseLike<unknown> {
  if (observer.holdEntry === undefined) return returned;
  const delay = observer.holdEntry();
  return returned.then(async (value) => {
    await delay;
    observer.onStep(DELAYED_ENTRY);
    return value;
  });
}

function reportChange({ observer, call }: Watch, change: string): void {
  const kind = `${call.hook} changed its arguments in place`;
  observer.report(`${kind}: ${change}`, kind);
}

function fail({ call, close }: Watch, error: unknown): never {
  call.settled = true;
  close();
  throw error;
}

/** Returns the part of a hook's first argument that belongs to the run and must not be changed in place. */
function dataOf(hook: HookName, value: unknown): unknown {
  if (hook === 'beforeModel' || hook === 'afterModel') return value;
  if (hook === 'beforeToolSelection') return (value as readonly { readonly name: string }[]).map((tool) => tool.name);
  if (hook === 'wrapToolCall') return (value as { readonly input: unknown }).input;
  if (hook !== 'wrapModelCall') return undefined;
  const { messages, tools, settings } = value as ModelCallRequest;
  return { messages, tools: tools.map((tool) => tool.name), settings };
}

function watchNext({ observer, call }: Watch, next: Next): Next {
  return (request) => {
    if (call.settled) observer.report(`${call.hook} called \`next\` after it had settled`);
    else if (call.aborted) observer.report(`${call.hook} called \`next\` again after the run was aborted`);
    call.waiting += 1;
    const outcome = next(request).then(
      (result) => {
        call.waiting -= 1;
        call.results.push(result);
        return result;
      },
      (error: unknown) => {
        call.waiting -= 1;
        call.aborted ||= error instanceof RunAbortedError;
        throw error;
      },
    );
    // Like the agent loop: a `next` that the hook does not await must not be an unhandled rejection.
    outcome.catch(() => {});
    return outcome;
  };
}

function checkAnswer({ observer, call }: Watch, value: unknown): void {
  const [first, second] = call.results;
  if (call.aborted)
    observer.report(
      `${call.hook} swallowed the abort: it returned an answer although \`next\` had rejected with the abort`,
    );
  if (call.hook !== 'wrapToolCall' || second === undefined || value !== first) return;
  if (!(first as ToolResult).isError) {
    observer.report(
      'wrapToolCall called `next` again after it had succeeded, and returned the first result: the tool ran twice',
    );
  }
}
