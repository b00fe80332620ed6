import { cloneData } from '../../internal/plain-data.js';
import { isPromise } from '../../internal/promise.js';
import type { AgentLifecycle, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { HOOKS } from '../../lifecycle/registered-lifecycle.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Report } from '../assert/lifecycle-fault.js';
import type { HookName } from '../hook-name.js';
import { differenceOf } from './difference.js';

/** What stands between an agent and a lifecycle under test: it passes everything on, and looks. */
export interface Observer {
  /** To be registered in place of the lifecycle. */
  readonly lifecycle: AgentLifecycle;
  /** Takes what is broken. */
  readonly report: Report;
  /** Called before each hook, and again while it is pending. */
  onStep: (step: string) => void;
  /** The hooks that have not settled, but for those that wait for their `next`. */
  running(): readonly HookName[];
}

/** One call of a hook. */
interface HookCall {
  readonly hook: HookName;
  settled: boolean;
  /** Calls of `next` that have not settled. */
  waiting: number;
  /** `next` has rejected because the run was aborted. */
  aborted: boolean;
  readonly results: unknown[];
}

type Hook = (...args: readonly unknown[]) => unknown;
type Next = (request?: unknown) => Promise<unknown>;

/** Puts an observer around a lifecycle. Its hooks are called on the lifecycle itself, so that `this` is what it was. */
export function observeLifecycle(subject: AgentLifecycle<never>, report: Report): Observer {
  const calls = new Set<HookCall>();
  const { priority, onFailure, timeoutMs, holdStream, tools } = subject;
  const members: Record<string, unknown> = { name: nameOf(subject), priority, onFailure, timeoutMs, holdStream, tools };
  const observer: Observer = {
    lifecycle: members as AgentLifecycle,
    report,
    onStep: () => {},
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

/** The name that an agent would show, so that reports speak of the lifecycle as its author does. */
export function nameOf(subject: AgentLifecycle<never>): string {
  const own = subject.name ?? subject.constructor?.name;
  return own === undefined || own === '' || own === 'Object' ? 'lifecycle' : own;
}

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
    return returned.then(settle, (error) => fail(watch, error));
  } catch (error) {
    return fail(watch, error);
  }
}

function reportChange({ observer, call }: Watch, change: string): void {
  const kind = `${call.hook} changed what it was given in place`;
  observer.report(`${kind}: ${change}`, kind);
}

function fail({ call, close }: Watch, error: unknown): never {
  call.settled = true;
  close();
  throw error;
}

/** What of a hook's first argument is the run's, and not to be changed in place. */
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
    // As the loop has it: a `next` that nobody awaits is no unhandled rejection.
    outcome.catch(() => {});
    return outcome;
  };
}

function checkAnswer({ observer, call }: Watch, value: unknown): void {
  const [first, second] = call.results;
  if (call.aborted)
    observer.report(`${call.hook} swallowed the abort: it gave an answer when \`next\` had rejected with it`);
  if (call.hook !== 'wrapToolCall' || second === undefined || value !== first) return;
  if (!(first as ToolResult).isError) {
    observer.report(
      'wrapToolCall called `next` again after it had succeeded, and returned the first result: the tool ran twice',
    );
  }
}
