import type { Awaitable } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { ToolCallPart, ToolResultPart, WaitingRun } from '../../model/message.js';
import type { HookPoint } from '../decision.js';
import type { EndAction } from '../hook-action.js';
import type { ToolCallRequest } from '../lifecycle.js';
import { RunAbortedError } from '../run-failure.js';

/** An action that ends the run, with the lifecycle and the hook point that returned it. */
export interface Verdict {
  readonly action: EndAction;
  readonly by: string;
  readonly point: HookPoint | 'end';
}

/** The action that suspended a tool call. */
export interface CallVerdict extends Verdict {
  /** The suspended nested run, if the call waits because of it. */
  readonly inside?: WaitingRun | undefined;
}

/** A tool call whose tool has read its signal or started a nested run. */
export interface EnteredCall {
  readonly callId: string;
  /** The RunEnd objects of the active nested runs. */
  readonly inside: readonly RunEnd[];
  /** Aborts the signal of the call. */
  expire(reason: unknown): void;
}

/** A suspended nested run that a call continues. */
export interface ResumedInside {
  readonly run: WaitingRun;
  /** The decisions on the nested run. Undefined if the call is repeated after a crash. */
  readonly decisions: Readonly<Record<string, unknown>> | undefined;
}

/** The tool calls of a turn, as far as the code that ends a run needs them. */
export interface CallsInFlight {
  /** The calls as the model made them. */
  readonly parts: readonly ToolCallPart[];
  /** The results in the order of `parts`. Undefined for a call without a result. */
  readonly results: readonly (ToolResultPart | undefined)[];
  /** True once no further result is accepted. A tool may still be running. */
  readonly halted: boolean;
  /** Aborts the signals of the calls. Created on first use. */
  readonly stop: Stop;
  /** The error text for each call that has no result when the run ends early. */
  readonly reason: string;
  /** The ids of the calls whose tool was started. Recorded only if a lifecycle has set an empty set. */
  ran?: Set<string> | undefined;
  /** The calls whose tool has read its signal or started a nested run. Undefined until the first one. */
  entered?: EnteredCall[] | undefined;
  /** Ids of the calls that were cancelled. */
  readonly cancelled?: ReadonlySet<string> | undefined;
  /** The calls that hooks suspended, by id. The run ends suspended once all other calls have results. */
  readonly suspended: ReadonlyMap<string, CallVerdict>;
  readonly prior: {
    /** By call id: the suspended nested run that the call continues. */
    readonly inside?: ReadonlyMap<string, ResumedInside> | undefined;
  };
  suspend(id: string, verdict: CallVerdict): void;
  /** Returns true while the call has no result. */
  accepts(id: string): boolean;
  /** Returns true if `resume` approved a call with this id, name and arguments. */
  isApproved(call: Pick<ToolCallRequest, 'id' | 'name' | 'input'>): boolean;
  /**
   * Aborts one call, and gives it an error result with this text. Returns false if the call has a result or waits for a
   * decision.
   */
  cancel(id: string, text: string): boolean;
  /** Aborts the calls without a result, and stops waiting for them. */
  halt(): void;
}

/** How a run ends: by an action of a hook, or by an abort. */
export class RunEnd {
  /** The first action that ends the run. The run loop checks it after each phase. */
  verdict: Verdict | undefined = undefined;
  /** True once `afterAgent` is about to be called. From then on, no message can be added to the run. */
  closing = false;
  /** True after the end of the run. Hooks and models that are still running then have no effect on the run. */
  over = false;
  /** Stopped when the run is aborted. Created on first use, by `stopper`. */
  stop: Stop | undefined = undefined;
  /** The running tool calls, which are halted if the run ends early. */
  calls: CallsInFlight | undefined = undefined;
  private aborted: Error | undefined = undefined;
  private owned: Set<unknown> | undefined = undefined;

  /** `agentStop` is stopped when the agent is closed. */
  constructor(private readonly agentStop: Stop) {}

  /** Ends the run with an action. Returns false if an earlier action has already ended the run. */
  decide(verdict: Verdict): boolean {
    if (this.verdict !== undefined) return false;
    this.verdict = verdict;
    return true;
  }

  /** The error of an aborted run. Undefined if the run is not aborted. */
  get abortError(): Error | undefined {
    if (this.agentStop.stopped && this.aborted === undefined) this.abort(new RunAbortedError(this.agentStop.reason));
    return this.aborted;
  }

  /** Aborts the run with this error. Later calls have no effect. */
  abort(error: Error): void {
    if (this.aborted !== undefined) return;
    this.aborted = this.own(error);
    this.stop?.stop(error);
    this.calls?.halt();
  }

  /** Cancels the tool call at a path, in this run or in a nested run. Returns false if the call is not running. */
  cancel([id = '', ...inside]: readonly string[], reason: string | undefined): boolean {
    if (this.over || this.calls === undefined) return false;
    const { entered = [] } = this.calls;
    const text = `The person cancelled this call${reason === undefined ? '.' : `: ${reason}`}`;
    if (inside.length === 0) return this.calls.cancel(id, text);
    return entered.some((call) => call.callId === id && call.inside.some((run) => run.cancel(inside, reason)));
  }

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

  /** Settles like `value`, or rejects if the run is aborted first. Calls `giveUp` on an abort. */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Awaitable<T> {
    return this.stop === undefined ? value : this.stop.race(value, giveUp);
  }

  /** Like `race`. Also marks an error of `work` with `own`, so that no hook is blamed for it. */
  raceOwned<T>(work: Promise<T>): Promise<T> {
    const owned = work.catch((error) => {
      throw this.own(error);
    });
    return this.race(owned) as Promise<T>;
  }

  /** Marks the run as over and removes its abort listeners. */
  finish(): void {
    this.closing = true;
    this.over = true;
    this.stop?.release();
  }

  /**
   * Marks an error whose message names its source, so that it is not reported as the failure of a hook. Returns the
   * error.
   */
  own<E>(error: E): E {
    this.owned ??= new Set();
    this.owned.add(error);
    return error;
  }

  owns(error: unknown): boolean {
    return this.owned?.has(error) ?? false;
  }
}
