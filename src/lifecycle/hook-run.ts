import type { Awaitable } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { Decision, HookPoint } from './decision.js';
import type { EndAction } from './hook-action.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import type { RunContext } from './run-context.js';
import { RunAbortedError } from './run-failure.js';

/** A run as the dispatch of hooks sees it: what it hands to them, and what they do to it. */
export interface HookRun {
  /** Given to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  /** The calls that hooks left open, by id: the run ends as suspended once the others of its turn have their results. */
  suspended: Map<string, Verdict> | undefined;
  /** Takes note of a decision, for the result and for listeners. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** Tells the listeners. Returns false when nobody listens to this type of event. */
  report(news: RunReport): boolean;
}

/** Where a context keeps its run, out of reach of hooks. */
export const RUN = Symbol.for('keelson.run');

/** The run behind a context; undefined when no agent made it. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** One hook of one part in one run. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that it is about. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** A decision that ends the run, with who took it and where. */
export interface Verdict {
  readonly action: EndAction;
  readonly by: string;
  readonly point: HookPoint | 'end';
}

/** The tool calls of a turn, as the end of a run sees them. */
export interface CallsInFlight {
  /** Whether every call has its result, whatever still runs. */
  readonly halted: boolean;
  /** The signals of the calls follow it. Made on first use. */
  readonly stop: Stop;
  /** Why a call has no result of its own. */
  readonly reason: string;
  /** Whether the call still waits for its result. */
  accepts(id: string): boolean;
  /** Aborts the calls that have no result yet, and ends the wait for them. */
  halt(): void;
}

/** How a run ends: by the model's answer, a verdict of a hook, or an abort; and which parts are told. */
export class RunEnd {
  /** Set once. The loop honours it at its next step. */
  verdict: Verdict | undefined = undefined;
  /** The final answer, once the model has given one. */
  answer: string | undefined = undefined;
  /** How many parts, in the order of the chain, have entered. */
  entered = 0;
  /** How many parts, in that order, have had their `afterAgent`, or would have had it. */
  exited = 0;
  /** Set as `afterAgent` begins: from then on nothing can join the run. */
  closing = false;
  /** Set as the run ends: hooks and models that it left behind find nothing to change. */
  over = false;
  /** Aborted with the run. Made on first use, by `stopper`. */
  stop: Stop | undefined = undefined;
  /** The calls that an early end halts. */
  calls: CallsInFlight | undefined = undefined;
  private aborted: Error | undefined = undefined;
  private owned: Set<unknown> | undefined = undefined;
  private readonly agentStop: Stop;

  /** `agentStop` is stopped as the agent is closed. */
  constructor(agentStop: Stop) {
    this.agentStop = agentStop;
  }

  /** The error that an aborted run ends with. */
  get abortError(): Error | undefined {
    if (this.agentStop.stopped && this.aborted === undefined) this.abort(new RunAbortedError(this.agentStop.reason));
    return this.aborted;
  }

  /** Ends the run with this error at its next await. The first call counts. */
  abort(error: Error): void {
    if (this.aborted !== undefined) return;
    this.aborted = this.own(error);
    this.stop?.stop(error);
    this.calls?.halt();
  }

  /** So short that it costs no call: the loop asks often. */
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

  /** The outcome, or the abort if that comes first: then `giveUp` is called. */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Awaitable<T> {
    return this.stop === undefined ? value : this.stop.race(value, giveUp);
  }

  /** Lets go of everything that the run follows: nothing that comes later changes it. */
  finish(): void {
    this.closing = true;
    this.over = true;
    this.stop?.release();
  }

  /** Marks an error as one that already says where it came from, so that no outer hook is blamed for it. */
  own<E>(error: E): E {
    this.owned ??= new Set();
    this.owned.add(error);
    return error;
  }

  owns(error: unknown): boolean {
    return this.owned?.has(error) ?? false;
  }
}

/** A model call failed, and another one takes its place. */
export interface ModelErrorReport {
  readonly type: 'model-error';
  readonly error: unknown;
  /** `retry`: the same model is asked again. `fallback`: another one is. */
  readonly action: 'retry' | 'fallback';
  /** The id of the model that is asked next. */
  readonly model: string;
  /** The wait before the next call, in milliseconds. */
  readonly delayMs: number;
}

/** A long conversation is about to be summarised. */
export interface CompactionStartReport {
  readonly type: 'compaction-start';
  /** The number of messages. */
  readonly messages: number;
}

/** The summary is there, or could not be made. */
export interface CompactionEndReport {
  readonly type: 'compaction-end';
  /** The number of messages that are left; absent when the conversation stays as it is. */
  readonly messages?: number | undefined;
}

/** A lifecycle's news of its run. */
export type RunReport = ModelErrorReport | CompactionStartReport | CompactionEndReport;

/** Tells the listeners of a run. Writes `message` to the log instead when nobody listens to this type of event. */
export function report(run: RunContext, news: RunReport, message?: string): void {
  const isHeard = hookRunOf(run)?.report(news) ?? false;
  if (!isHeard && message !== undefined) run.logger.warn(message);
}
