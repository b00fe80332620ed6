import { cloneData } from '../../internal/plain-data.js';
import { isPromise } from '../../internal/promise.js';
import type { AgentLifecycle, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { HOOKS } from '../../lifecycle/registered-lifecycle.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Report } from '../assert/lifecycle-fault.js';
import type { HookName } from '../recorder.js';
import { differenceOf } from './difference.js';

/** A wrapper around the lifecycle under test, which passes every call on and checks it. */
export interface Observer {
  /** The wrapper to register instead of the lifecycle. */
  readonly lifecycle: AgentLifecycle;
  readonly report: Report;
  /** Called before each hook, and again when a hook has returned a promise. */
  onStep: (step: string) => void;
  /** The calls of hooks that have not settled. */
  readonly pending: Set<HookCall>;
}

/** One call of a hook. */
interface HookCall {
  readonly hook: HookName;
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
  const { priority, onFailure, timeoutMs, holdStream, tools } = subject;
  const members: Record<string, unknown> = { name: nameOf(subject), priority, onFailure, timeoutMs, holdStream, tools };
  const observer: Observer = {
    lifecycle: members as AgentLifecycle,
    report,
    onStep: () => {},
    pending: new Set(),
  };
  for (const hook of HOOKS) {
    const own = subject[hook] as Hook | undefined;
    if (own === undefined) continue;
    members[hook] = (...args: readonly unknown[]) => {
      const call: HookCall = { hook, waiting: 0, aborted: false, results: [] };
      observer.pending.add(call);
      return callHook({ observer, call }, own.bind(subject), args);
    };
  }
  return observer;
}

/** Returns the names of the hooks that have not settled. Leaves out wraps that wait for `next`. */
export function hooksAtWork({ pending }: Observer): readonly HookName[] {
  return [...new Set([...pending].flatMap(({ hook, waiting }) => (waiting === 0 ? [hook] : [])))];
}

/** Returns the name that an agent would show for the lifecycle. */
export function nameOf(subject: AgentLifecycle<never>): string {
  const own = subject.name ?? subject.constructor?.name;
  return own === undefined || own === '' || own === 'Object' ? 'lifecycle' : own;
}

interface Watch {
  readonly observer: Observer;
  readonly call: HookCall;
}

function callHook(watch: Watch, own: Hook, [first, second]: readonly unknown[]): unknown {
  const { observer, call } = watch;
  const before = cloneData(dataOf(call.hook, first));
  const settle = (value?: unknown) => {
    observer.pending.delete(call);
    const change = differenceOf(dataOf(call.hook, first), before);
    const kind = `${call.hook} changed its arguments in place`;
    if (change !== undefined) observer.report(`${kind}: ${change}`, kind);
    checkAnswer(watch, value);
    return value;
  };
  const fail = (error: unknown): never => {
    observer.pending.delete(call);
    throw error;
  };
  observer.onStep(call.hook);
  const isWrap = call.hook === 'wrapModelCall' || call.hook === 'wrapToolCall';
  try {
    const returned = own(first, isWrap ? watchNext(watch, second as Next) : second);
    if (!isPromise(returned)) return settle(returned);
    observer.onStep(`${call.hook}, while it is pending`);
    return returned.then(settle, fail);
  } catch (error) {
    return fail(error);
  }
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
    if (!observer.pending.has(call)) observer.report(`${call.hook} called \`next\` after it had settled`);
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
    // As in the agent loop, a rejection of `next` is not reported as unhandled if the hook does not await `next`.
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
