import type { Awaitable } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { Message } from '../model/message.js';
import type { Model, ModelResponse, Usage } from '../model/model.js';
import type { Decision, HookPoint } from './decision.js';
import type { EndAction } from './hook-action.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import type { RunContext } from './run-context.js';
import { RunAbortedError } from './run-failure.js';

/** The state of a run that the code that calls hooks reads and changes. */
export interface HookRun {
  /** Passed to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  /** `later` holds the messages that followed the open calls of a resumed run. */
  readonly conversation: { readonly resuming: { readonly later: readonly Message[] } | undefined };
  /**
   * The tool calls that hooks suspended, by id. The run ends as suspended once the other calls of the turn have
   * results.
   */
  suspended: Map<string, Verdict> | undefined;
  /** Adds a decision to the result and emits a `decision` event. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** Calls `model` through the `wrapModelCall` hooks, outside of the turns. The usage of the run includes the call. */
  ask(model: Model, messages: readonly Message[]): Promise<ModelResponse>;
  /** Emits an event. Returns false if this type of event has no listener. */
  report(news: RunReport): boolean;
}

/** One model or tool call with its hooks, from the start of the outermost hook until it settles. */
export interface CallScope {
  readonly run: HookRun;
  /** False once the outermost hook of a model call has settled. Then `next` rejects in hooks that are still running. */
  readonly open: boolean;
  /** The number of hooks and `next` calls that are pending, without those whose promise the outermost hook has returned. */
  busy: number;
  /** The last result that the call or a hook returned and that was found valid. At first `NO_RESULT`. */
  result: unknown;
  /** The last promise of a hook whose rejection is handled even if no other hook awaits it. */
  silent: Promise<unknown> | undefined;
}

/** Differs from every value that a hook can return. */
export const NO_RESULT = Symbol();

/** Returns the scope of a tool call. */
export function scopeOf(run: HookRun): CallScope {
  return { run, open: true, busy: 0, result: NO_RESULT, silent: undefined };
}

/** Key of the internal run inside a RunContext. */
export const RUN = Symbol.for('keelson.run');

/** Returns the internal run of a RunContext, or undefined if no agent made the object. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** Key that marks the request of a model call outside of the turns. Copies of the request keep the mark. */
export const ASIDE = Symbol.for('keelson.aside');

/** Returns true if the model call is not part of a turn, such as the call for a summary. */
export function isAside(request: object): boolean {
  return ASIDE in request;
}

/** One hook of one lifecycle in one run. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that the hook wraps. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** An action that ends the run, with the name of the lifecycle and the hook point. */
export interface Verdict {
  readonly action: EndAction;
  readonly by: string;
  readonly point: HookPoint | 'end';
}

/** The parts of a tool call that an approval covers. */
export interface ApprovableCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The tool calls of a turn, as far as the end of a run needs them. */
export interface CallsInFlight {
  /** True once every call has a result. A halted tool may still be running. */
  readonly halted: boolean;
  /** Aborts the signals of the calls. Created on first use. */
  readonly stop: Stop;
  /** Explains to the model why a call has no result of its tool. */
  readonly reason: string;
  /** Ids of the calls whose tool was started. A lifecycle that needs the ids sets an empty set. */
  ran?: Set<string> | undefined;
  /** Returns true while the call has no result. */
  accepts(id: string): boolean;
  /** Returns true if `resume` approved a call with this id, this name and these arguments. */
  isApproved(call: ApprovableCall): boolean;
  /** Aborts the calls that have no result yet, and ends the wait for them. */
  halt(): void;
}

/** How a run ends (final answer, action of a hook, or abort), and which lifecycles get `afterAgent` or `onError`. */
export class RunEnd {
  /** The first action that ends the run. The run loop stops at its next step. */
  verdict: Verdict | undefined = undefined;
  /** The final answer, once the model has given one. */
  answer: string | undefined = undefined;
  /** The number of lifecycles, in chain order, whose `beforeAgent` has run or was skipped. */
  entered = 0;
  /** The `beforeAgent` hook whose promise has not settled. */
  entering: { readonly entry: RegisteredLifecycle; readonly done: Promise<unknown> } | undefined = undefined;
  /** The number of lifecycles, in chain order, whose `afterAgent` has run or was skipped. */
  exited = 0;
  /** Set when `afterAgent` begins. From then on no message can be added to the run. */
  closing = false;
  /** Set when the run ends. From then on late hooks and models have no effect on the run. */
  over = false;
  /** Stopped when the run is aborted. Created on first use, by `stopper`. */
  stop: Stop | undefined = undefined;
  /** The calls that an early end halts. */
  calls: CallsInFlight | undefined = undefined;
  private aborted: Error | undefined = undefined;
  private owned: Set<unknown> | undefined = undefined;
  private readonly agentStop: Stop;

  /** `agentStop` is stopped when the agent is closed. */
  constructor(agentStop: Stop) {
    this.agentStop = agentStop;
  }

  /** The error of an aborted run; undefined while the run is not aborted. */
  get abortError(): Error | undefined {
    if (this.agentStop.stopped && this.aborted === undefined) this.abort(new RunAbortedError(this.agentStop.reason));
    return this.aborted;
  }

  /** Aborts the run with this error. Only the first call has an effect. */
  abort(error: Error): void {
    if (this.aborted !== undefined) return;
    this.aborted = this.own(error);
    this.stop?.stop(error);
    this.calls?.halt();
  }

  /** Kept short so that engines inline it: the run loop calls it often. */
  throwIfAborted(): void {
    if (this.agentStop.stopped || this.aborted !== undefined) throw this.abortError;
  }

  stopper(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      if (this.aborted !== undefined) this.stop.stop(this.aborted);
      else if (!this.closing) this.stop.whenReleased(this.agentStop.onStop(() => void this.abortError));
    }
    return this.stop;
  }

  /** Resolves like `value`, or rejects if the run is aborted first; `giveUp` is called on an abort. */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Awaitable<T> {
    return this.stop === undefined ? value : this.stop.race(value, giveUp);
  }

  /** Marks the run as over and removes its abort listeners. */
  finish(): void {
    this.closing = true;
    this.over = true;
    this.stop?.release();
  }

  /** Marks an error as naming its source already, so that no outer hook is blamed for it. Returns the error. */
  own<E>(error: E): E {
    this.owned ??= new Set();
    this.owned.add(error);
    return error;
  }

  owns(error: unknown): boolean {
    return this.owned?.has(error) ?? false;
  }
}

/** A model call failed, and another model call follows. */
export interface ModelErrorReport {
  readonly type: 'model-error';
  readonly error: unknown;
  /** `retry` calls the same model again; `fallback` calls another model. */
  readonly action: 'retry' | 'fallback';
  /** The id of the model that is called next. */
  readonly model: string;
  /** The wait before the next call, in milliseconds. */
  readonly delayMs: number;
}

/** The summary of a long conversation is about to be written. */
export interface CompactionStartReport {
  readonly type: 'compaction-start';
  /** The number of messages before the summary. */
  readonly messages: number;
}

/** The summary was written, or could not be written. */
export interface CompactionEndReport {
  readonly type: 'compaction-end';
  /** The number of messages after the summary; absent if the messages did not change. */
  readonly messages?: number | undefined;
}

/** A callback extension was set aside, because it kept failing. */
export interface ExtensionErrorReport {
  readonly type: 'extension-error';
  readonly extensionId: string;
  /** The callback that failed last. */
  readonly callback: string;
  /** The number of failures in a row. */
  readonly failures: number;
  /** The time for which the extension is not called, in milliseconds. */
  readonly pauseMs: number;
}

/** The run starts without the tools of some MCP servers, because they are not connected. */
export interface ServerErrorReport {
  readonly type: 'server-error';
  /** The servers that are not connected. `state` is that of `status()`; `error` is the last error. */
  readonly servers: readonly {
    readonly name: string;
    readonly state: string;
    readonly error?: string | undefined;
  }[];
}

/** An event that a ready-made lifecycle or a loader emits. */
export type RunReport =
  | ModelErrorReport
  | CompactionStartReport
  | CompactionEndReport
  | ExtensionErrorReport
  | ServerErrorReport;

/** Emits an event of a run. If this type of event has no listener, logs `message` as a warning instead. */
export function report(run: RunContext, news: RunReport, message?: string): void {
  const isHeard = hookRunOf(run)?.report(news);
  if (!isHeard && message !== undefined) run.logger.warn(message);
}

/** A moment inside of a ready-made lifecycle. */
export type Moment =
  | { readonly kind: 'approval'; readonly tool: string; readonly reason: string }
  | { readonly kind: 'compaction' };

/**
 * Handles a moment of a run. `earlier` is the result of the handlers before it. Before a compaction, false prevents the
 * compaction.
 */
export type MomentHandler = (moment: Moment, earlier: Promise<boolean> | undefined) => Promise<boolean>;

/** A global symbol, because each entry of the package has its own copy of this module. */
const MOMENTS = Symbol.for('keelson.moments');

/** Calls `handler` at the moments of a run. It must await `earlier`, so that handlers run one after another. */
export function handleMoments(run: RunContext, handler: MomentHandler): void {
  const hookRun = hookRunOf(run) as { [MOMENTS]?: (moment: Moment) => Promise<boolean> } | undefined;
  const earlier = hookRun?.[MOMENTS];
  if (hookRun !== undefined) hookRun[MOMENTS] = (moment) => handler(moment, earlier?.(moment));
}

/** Calls the handlers of a moment. Returns undefined if the run has no handler. */
export function tellMoment(run: object, moment: Moment): Promise<boolean> | undefined {
  return (hookRunOf(run) as { readonly [MOMENTS]?: (moment: Moment) => Promise<boolean> } | undefined)?.[MOMENTS]?.(
    moment,
  );
}

/** A budget for the model calls of all runs inside of a run. */
export interface Budget {
  /** The name of the lifecycle. */
  readonly by: string;
  /** Called before a model call. Returns the reason to refuse the call, or a function that gets the usage of the call. */
  admit(model: string): string | ((usage: Usage | undefined) => void);
}

const BUDGETS = Symbol.for('keelson.budgets');

/** Adds a budget to a run. */
export function addBudget(run: RunContext, budget: Budget): void {
  const hookRun = hookRunOf(run) as { [BUDGETS]?: readonly Budget[] } | undefined;
  if (hookRun !== undefined) hookRun[BUDGETS] = [...(hookRun[BUDGETS] ?? []), budget];
}

/** Returns the budgets of a run and of the runs around it. */
export function budgetsOf(run: { readonly parent?: object | undefined } | undefined): readonly Budget[] {
  if (run === undefined) return [];
  const { [BUDGETS]: own = [] } = (hookRunOf(run) ?? {}) as { readonly [BUDGETS]?: readonly Budget[] };
  return [...own, ...budgetsOf(run.parent)];
}
