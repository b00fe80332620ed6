import { describeError } from '../../errors.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { Step } from '../../lifecycle/compose.js';
import type { ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ToolCallPart, ToolResultPart } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import type { PendingCall } from '../run-result.js';
import { inputOf, partOf, requestOf, resultOf } from './call-parts.js';
import type { CallsInFlight, Interruptible } from './calls-in-flight.js';
import type { Run } from './run.js';
import { ToolCall } from './tool-call.js';

type ToolStep = Step<ToolCallRequest, ToolResult>;

/** What is known of a turn's calls before they run. */
export interface PriorResults {
  /** By call id: results from an earlier process, denials, calls that were cut off. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** Whether the calls without one were approved as the run was resumed. */
  readonly approved: boolean;
}

const NOBODY: Interruptible[] = [];

/**
 * The tool calls of one turn. Each gets exactly one result, in call order, or is left open where a hook suspended it.
 * Runs as many at once as the run allows.
 */
export class ToolBatch implements CallsInFlight {
  readonly results: (ToolResultPart | undefined)[];
  /** Whether every call has its result, whatever still runs. */
  halted = false;
  private readonly run: Run;
  private readonly calls: readonly ToolCallPart[];
  private readonly prior: PriorResults | undefined;
  /** Whether any call was begun. */
  ran = false;
  /** The one call of a batch that the loop itself waits for. */
  private single: ToolCall | undefined = undefined;
  private alone = false;
  private next = 0;
  private running = 0;
  private failure: { readonly error: unknown } | undefined = undefined;
  /** Ends the loop's wait. */
  private release: ((value?: undefined) => void) | undefined = undefined;
  private stopper: Stop | undefined = undefined;
  private waiting = NOBODY;

  constructor(run: Run, calls: readonly ToolCallPart[], prior: PriorResults | undefined) {
    this.run = run;
    this.calls = calls;
    this.prior = prior;
    this.results = new Array(calls.length);
  }

  /**
   * Starts the calls. Returns a promise where one of them does: what it gives, or rejects with, goes to `resume` or
   * `resumeFailed`. Starts none where the run has its verdict already.
   */
  begin(): PromiseLike<unknown> | undefined {
    const { run, calls } = this;
    if (run.verdict !== undefined) return undefined;
    run.calls = this;
    this.ran = true;
    if (calls.length === 1 && this.prior === undefined) return this.beginSingle(calls[0] as ToolCallPart);
    this.fill();
    return this.running === 0 || this.halted ? undefined : this.untilReleased();
  }

  private untilReleased(): Promise<undefined> {
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  resume(value: unknown): void {
    if (!this.alone) return;
    this.settle(0, this.single === undefined ? (value as ToolResult) : this.single.finalise(value));
  }

  resumeFailed(error: unknown): void {
    if (!this.alone) return;
    if (this.single === undefined) this.fail((this.calls[0] as ToolCallPart).id, error);
    else this.settleFailed(0, this.single, error);
  }

  /**
   * Closes the batch: a call that has no result gets an error result, unless it was suspended and the run can wait for
   * it. Aborts a call that a hook answered without awaiting it. Returns the calls that stay open.
   */
  finish(): readonly PendingCall[] | undefined {
    const { run } = this;
    run.calls = undefined;
    let pending: PendingCall[] | undefined;
    for (let i = 0; i < this.calls.length; i++) {
      if (this.results[i] !== undefined) continue;
      const call = this.calls[i] as ToolCallPart;
      const known = this.prior?.results.get(call.id);
      const suspended = run.suspended?.get(call.id);
      if (known !== undefined) {
        this.results[i] = partOf(call, known);
      } else if (suspended?.action.type === 'suspend' && !(run.verdict || run.abortError || this.failure)) {
        pending ??= [];
        pending.push({ ...call, reason: suspended.action.reason, by: suspended.by });
        if (run.listening) this.announceEnd(call, undefined);
      } else {
        this.put(i, errorResult(this.reason()));
      }
    }
    this.halted = true;
    this.stopper?.stop(this.reason());
    return pending;
  }

  accepts(id: string): boolean {
    if (this.halted) return false;
    for (let i = 0; i < this.calls.length; i++) if (this.calls[i]?.id === id) return this.results[i] === undefined;
    return false;
  }

  /** Throws what ended the batch before its time. */
  throwIfFailed(): undefined {
    this.run.throwIfAborted();
    if (this.failure !== undefined) throw this.failure.error;
  }

  get stop(): Stop {
    if (this.stopper === undefined) {
      this.stopper = new Stop();
      // Whoever reads a signal wants to hear of an abort: from here on the run hears of the agent's end.
      this.run.stopper();
      if (this.halted) this.stopper.stop(this.run.abortError ?? this.reason());
    }
    return this.stopper;
  }

  halt(): void {
    if (this.halted) return;
    this.halted = true;
    this.stopper?.stop(this.run.abortError ?? this.reason());
    for (const call of this.waiting) call.interrupt(errorResult(this.reason()));
    this.release?.();
  }

  /** Keeps a call that a hook waits for, so that the hook learns of the end. */
  wait(call: Interruptible): void {
    if (this.waiting === NOBODY) this.waiting = [];
    this.waiting.push(call);
  }

  private fill(): void {
    const limit = this.run.config.parallelToolCalls;
    while (!this.halted && this.running < limit && this.next < this.calls.length) this.start(this.next++);
  }

  private beginSingle(part: ToolCallPart): PromiseLike<unknown> | undefined {
    const { run } = this;
    const { wrapToolCall } = run.config.chain;
    this.next = 1;
    if (run.listening) this.announceStart(part);
    const outcome = wrapToolCall === undefined ? this.beginPlain(part) : this.beginWrapped(part, wrapToolCall);
    if (outcome === undefined) return undefined;
    // The tool itself ended the run: it is not waited for.
    if (this.halted) return void outcome.then(undefined, () => {});
    this.alone = true;
    // A run that cannot be aborted needs nothing but the call's own promise: `end` aborts its signal and waits for it.
    return run.stop === undefined ? outcome : this.orHalt(outcome);
  }

  private beginPlain(part: ToolCallPart): PromiseLike<unknown> | undefined {
    const call = new ToolCall(this.run, inputOf(this.run, part));
    const output = call.begin();
    if (output === undefined) this.settle(0, call.finalise(undefined));
    else this.single = call;
    return output;
  }

  private beginWrapped(part: ToolCallPart, chain: ToolStep): PromiseLike<ToolResult> | undefined {
    try {
      const outcome = chain(requestOf(this.run, part, undefined), this.run);
      if (isPromise(outcome)) return outcome;
      this.settle(0, outcome);
    } catch (error) {
      this.fail(part.id, error);
    }
    return undefined;
  }

  private orHalt(outcome: PromiseLike<unknown>): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      this.release = resolve;
      outcome.then(resolve, reject);
    });
  }

  private start(index: number): void {
    const { run, prior } = this;
    const part = this.calls[index] as ToolCallPart;
    // Its result is known: it joins the others in `finish`.
    if (prior?.results.has(part.id)) return;
    if (run.listening) this.announceStart(part);
    const { wrapToolCall } = run.config.chain;
    if (wrapToolCall === undefined) this.startPlain(index, new ToolCall(run, inputOf(run, part)));
    else this.startWrapped(index, requestOf(run, part, prior?.approved), wrapToolCall);
  }

  private startPlain(index: number, call: ToolCall): void {
    const output = call.begin();
    if (output === undefined) return this.settle(index, call.finalise(undefined));
    this.running += 1;
    output.then(
      (value) => {
        this.settle(index, call.finalise(value));
        this.proceed();
      },
      (error) => {
        this.settleFailed(index, call, error);
        this.proceed();
      },
    );
  }

  private startWrapped(index: number, request: ToolCallRequest, chain: ToolStep): void {
    let outcome: Awaitable<ToolResult>;
    try {
      outcome = chain(request, this.run);
    } catch (error) {
      return this.fail(request.id, error);
    }
    if (!isPromise(outcome)) return this.settle(index, outcome);
    this.running += 1;
    outcome.then(
      (result) => {
        this.settle(index, result);
        this.proceed();
      },
      (error) => {
        this.fail(request.id, error);
        this.proceed();
      },
    );
  }

  private settleFailed(index: number, call: ToolCall, error: unknown): void {
    try {
      this.settle(index, call.fail(error));
    } catch (abort) {
      this.fail(call.callId, abort);
    }
  }

  private proceed(): void {
    this.running -= 1;
    if (this.halted) return;
    if (this.next < this.calls.length) this.fill();
    if (this.running === 0) this.release?.();
  }

  /** What comes after the batch was halted comes too late: the call has its result. */
  private settle(index: number, result: ToolResult): void {
    if (this.halted || this.run.suspended?.has((this.calls[index] as ToolCallPart).id)) return;
    this.put(index, result);
  }

  private put(index: number, result: ToolResult): void {
    const call = this.calls[index] as ToolCallPart;
    const part = partOf(call, result);
    this.results[index] = part;
    if (this.run.listening && index < this.next) this.announceEnd(call, part);
  }

  /** A suspended call unwinds as an error, and stays open. Any other failure aborts the calls beside it. */
  private fail(id: string, error: unknown): void {
    if (this.run.suspended?.has(id) || this.halted) return;
    if (this.run.abortError === undefined) this.failure = { error };
    this.halt();
  }

  private reason(): string {
    const { verdict, abortError } = this.run;
    if (abortError !== undefined) return `The call was aborted. ${abortError.message}`;
    if (this.failure !== undefined) return `The call was not completed: ${describeError(this.failure.error)}`;
    const action = verdict?.action;
    if (action === undefined) return 'The call was given a result before it was done.';
    return `The call was not completed, because the run ended${'reason' in action ? `: ${action.reason}` : '.'}`;
  }

  private announceStart({ id, name, input, invalidInput }: ToolCallPart): void {
    const { run } = this;
    run.emit({ type: 'tool-start', runId: run.id, turn: run.turn, callId: id, name, input: invalidInput ?? input });
  }

  private announceEnd({ id, name }: ToolCallPart, result: ToolResultPart | undefined): void {
    const { run } = this;
    run.emit({ type: 'tool-end', runId: run.id, turn: run.turn, callId: id, name, result: result && resultOf(result) });
  }
}
