import { describeError } from '../errors.js';
import { type Awaitable, createDeferred, type Deferred, isPromise } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { ToolCallPart, ToolResultPart } from '../model/message.js';
import type { ToolResult } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import type { CallsInFlight, Run } from './run.js';
import type { PendingCall } from './run-result.js';
import { callTool } from './tool-call.js';

/** What is known of a turn's calls before they run. */
export interface PriorResults {
  /** By call id: results from an earlier process, denials, calls that were cut off. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** Whether the calls without one were approved as the run was resumed. */
  readonly approved: boolean;
}

/**
 * The tool calls of one turn. Each gets exactly one result, in call order, or is left open where a hook suspended it.
 * Runs as many at once as the run allows.
 */
export class ToolBatch implements CallsInFlight {
  readonly results: (ToolResultPart | undefined)[] = [];
  private next = 0;
  private running = 0;
  private halted = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  private done: Deferred<void> | undefined = undefined;
  private stopper: Stop | undefined = undefined;

  constructor(
    private readonly run: Run,
    private readonly calls: readonly ToolCallPart[],
    private readonly prior: PriorResults | undefined,
  ) {}

  /** Runs the calls. Returns a promise only where one of them does; it never rejects. */
  execute(): Promise<void> | undefined {
    this.run.calls = this;
    this.fill();
    if (this.running === 0 || this.halted) return undefined;
    this.done = createDeferred<void>();
    return this.done.promise;
  }

  /**
   * Closes the batch: a call that has no result gets an error result, unless it was suspended and the run can wait for
   * it. Returns the calls that stay open. Throws the failure of a hook.
   */
  finish(): readonly PendingCall[] {
    const { run } = this;
    run.calls = undefined;
    const waits = run.verdict === undefined && run.abortError === undefined && this.failure === undefined;
    const pending: PendingCall[] = [];
    for (let i = 0; i < this.calls.length; i++) {
      if (this.results[i] !== undefined) continue;
      const call = this.calls[i] as ToolCallPart;
      const suspended = run.suspended?.get(call.id);
      if (waits && suspended?.action.type === 'suspend') {
        pending.push({ ...call, reason: suspended.action.reason, by: suspended.by });
        if (run.listening) this.announceEnd(call, undefined);
      } else {
        this.put(i, errorResult(this.reason()));
      }
    }
    return pending;
  }

  /** The results there are, in call order. */
  collect(): ToolResultPart[] {
    return this.results.filter((result) => result !== undefined);
  }

  /** Throws what ended the batch before its time. */
  throwIfFailed(): undefined {
    this.run.throwIfAborted();
    if (this.failure !== undefined) throw this.failure.error;
  }

  get stop(): Stop {
    if (this.stopper === undefined) {
      this.stopper = new Stop();
      if (this.halted) this.stopper.stop(this.run.abortError ?? this.reason());
    }
    return this.stopper;
  }

  halt(): void {
    if (this.halted) return;
    this.halted = true;
    this.stopper?.stop(this.run.abortError ?? this.reason());
    this.done?.resolve();
  }

  private fill(): void {
    const limit = this.run.config.parallelToolCalls;
    while (!this.halted && this.running < limit && this.next < this.calls.length) this.start(this.next++);
  }

  private start(index: number): void {
    const { run, prior } = this;
    const call = this.calls[index] as ToolCallPart;
    const known = prior?.results.get(call.id);
    if (known !== undefined) {
      this.results[index] = partOf(call, known);
      return;
    }
    if (run.listening) this.announceStart(call);
    let outcome: Awaitable<ToolResult>;
    try {
      const request = requestOf(run, call, prior?.approved);
      const { wrapToolCall } = run.config.chain;
      outcome = wrapToolCall === undefined ? callTool(request, run) : wrapToolCall(request, run);
    } catch (error) {
      return this.fail(call.id, error);
    }
    if (!isPromise(outcome)) return this.settle(index, outcome);
    this.running += 1;
    outcome.then(
      (result) => {
        this.settle(index, result);
        this.proceed();
      },
      (error) => {
        this.fail(call.id, error);
        this.proceed();
      },
    );
  }

  private proceed(): void {
    this.running -= 1;
    if (this.halted) return;
    if (this.next < this.calls.length) this.fill();
    if (this.running === 0) this.done?.resolve();
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
    return `The call was not completed, because the run ended${action && 'reason' in action ? `: ${action.reason}` : '.'}`;
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

function partOf({ id, name }: ToolCallPart, { content, structured, isError }: ToolResult): ToolResultPart {
  const part: { -readonly [Key in keyof ToolResultPart]: ToolResultPart[Key] } = {
    type: 'tool-result',
    id,
    name,
    content,
  };
  if (structured !== undefined) part.structured = structured;
  if (isError) part.isError = true;
  return part;
}

function resultOf({ type: _type, id: _id, name: _name, ...result }: ToolResultPart): ToolResult {
  return result;
}

function requestOf(run: Run, { id, name, input, invalidInput }: ToolCallPart, approved?: boolean): ToolCallRequest {
  return {
    id,
    name,
    input: invalidInput === undefined ? input : undefined,
    additions: undefined,
    invalidInput,
    tool: run.config.chain.wrapToolCall === undefined ? undefined : run.snapshot?.find(name),
    approved,
    run,
    signal: undefined,
  };
}
