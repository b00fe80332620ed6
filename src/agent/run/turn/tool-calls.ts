import { describeError } from '../../../errors.js';
import { copyData } from '../../../internal/plain-data.js';
import { type Awaitable, isPromise } from '../../../internal/promise.js';
import { Stop } from '../../../internal/stop.js';
import type { CallsInFlight, CallVerdict, EnteredCall, ResumedInside } from '../../../lifecycle/hook-run/run-end.js';
import type { ToolCallRequest } from '../../../lifecycle/lifecycle.js';
import { withAttempts } from '../../../model/denial.js';
import { withEditNote } from '../../../model/edited-call.js';
import type { SuspendedCall, ToolCallPart, ToolResultPart } from '../../../model/message.js';
import type { ToolResult } from '../../../tools/tool.js';
import { errorResult, isToolResult, resultPartOf } from '../../../tools/tool-result.js';
import type { SuspendedRun } from '../../run-result.js';
import type { Run } from '../run.js';
import { keepInside, pendingIn, questionIn } from './pending.js';
import { callTool, runTool, ToolCall } from './tool-call.js';

/** Results and approvals that exist before the calls of a turn start. */
export interface PriorResults {
  /** By call id: results of an earlier run, of denied calls, and of calls in a response that was cut off. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** By call id: the name and arguments of each call that `resume` approved, as JSON. */
  readonly approved?: ReadonlyMap<string, string>;
  /** The ids of the calls whose arguments a person changed. */
  readonly edited?: ReadonlySet<string>;
  /** By call id: the reason why an undecided call keeps waiting. */
  readonly waits?: ReadonlyMap<string, SuspendedCall>;
  /** By call id: the nested run that continues. */
  readonly inside?: ReadonlyMap<string, ResumedInside>;
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * The tool calls of one turn. Each call gets exactly one result, in call order, unless a hook suspends it and leaves it
 * open.
 */
export class ToolCalls implements CallsInFlight {
  halted = false;
  begun = 0;
  /** The error that ended the calls early. */
  failure: { readonly error: unknown } | undefined = undefined;
  ran: Set<string> | undefined = undefined;
  suspended: ReadonlyMap<string, CallVerdict> = NONE;
  readonly results: (ToolResultPart | undefined)[];
  entered: EnteredCall[] | undefined = undefined;
  cancelled: Set<string> | undefined = undefined;
  /** The id of the call that hands the run over. */
  handover: string | undefined = undefined;
  /** The number of calls that are running. */
  running = 0;
  /** Resolves the promise of `execute`, which waits for the running calls. */
  release: (() => void) | undefined = undefined;
  private stopper: Stop | undefined = undefined;

  constructor(
    readonly run: Run,
    readonly parts: readonly ToolCallPart[],
    readonly prior: PriorResults = { results: NONE },
  ) {
    this.results = new Array(parts.length);
  }

  /**
   * Starts the calls, within the run's limit of parallel calls. Returns a promise if a call is still running. Starts
   * nothing if a hook has ended the run.
   */
  execute(): Promise<void> | undefined {
    if (this.run.end.verdict !== undefined) return undefined;
    this.run.end.calls = this;
    startMore(this);
    if (this.running === 0 || this.halted) return undefined;
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  /**
   * Adds the results to the conversation as one message in call order, followed by the messages that were added during
   * the turn.
   *
   * A call without a result gets an error result. A suspended call stays open, unless the run was ended or aborted
   * meanwhile.
   */
  addResults(): void {
    const { run, results } = this;
    run.end.calls = undefined;
    run.conversation.resuming = undefined;
    const pending = results.includes(undefined) ? closeOpenCalls(this) : undefined;
    this.halted = true;
    // Aborts tools that still run because a hook abandoned them.
    this.stopper?.stop(this.reason);
    const present = pending === undefined ? results : results.filter((result) => result !== undefined);
    if (present.length > 0) run.conversation.push({ role: 'tool', content: present as ToolResultPart[] });
    run.pending = pending;
    run.conversation.addQueued();
  }

  get stop(): Stop {
    if (this.stopper === undefined) {
      this.stopper = new Stop();
      // A tool that reads its signal must also receive an abort by `agent.close()`.
      this.run.end.stopper();
      if (this.halted) this.stopper.stop(this.run.end.abortError ?? this.reason);
    }
    return this.stopper;
  }

  get reason(): string {
    const { verdict, abortError } = this.run.end;
    if (abortError !== undefined) return `The call was aborted. ${abortError.message}`;
    if (this.failure !== undefined) return `The call was not completed: ${describeError(this.failure.error)}`;
    const action = verdict?.action;
    if (action === undefined) return 'The call got a result before it was completed.';
    return `The call was not completed, because the run ended${'reason' in action ? `: ${action.reason}` : '.'}`;
  }

  accepts(id: string): boolean {
    const index = this.halted ? -1 : this.parts.findIndex((part) => part.id === id);
    return index >= 0 && this.results[index] === undefined;
  }

  isApproved({ id, name, input }: Pick<ToolCallRequest, 'id' | 'name' | 'input'>): boolean {
    const text = approvalText(name, input);
    return text !== '' && this.prior.approved?.get(id) === text;
  }

  suspend(id: string, verdict: CallVerdict): void {
    this.suspended = new Map(this.suspended).set(id, verdict);
  }

  cancel(id: string, text: string): boolean {
    const isKnown = this.suspended.has(id) || this.prior.results.has(id) || this.prior.waits?.has(id);
    // A replay of a durable run could not repeat the cancellation.
    if (isKnown || this.run.effects !== undefined || !this.accepts(id)) return false;
    this.cancelled ??= new Set();
    this.cancelled.add(id);
    const index = this.parts.findIndex((part) => part.id === id);
    if (index < this.begun) this.running -= 1;
    putResult(this, index, errorResult(text));
    for (const call of this.entered ?? []) if (call.callId === id) call.expire(text);
    goOn(this);
    return true;
  }

  halt(): void {
    if (this.halted) return;
    this.halted = true;
    this.stopper?.stop(this.run.end.abortError ?? this.reason);
    this.release?.();
  }
}

/** Starts calls up to the limit of parallel calls. */
function startMore(calls: ToolCalls): void {
  const { run, parts, prior, results } = calls;
  while (!calls.halted && calls.running < run.config.parallelToolCalls && calls.begun < parts.length) {
    const index = calls.begun++;
    const part = parts[index] as ToolCallPart;
    // `addResults` adds the results that are already known.
    if (prior.results.has(part.id) || prior.waits?.has(part.id) || results[index] !== undefined) continue;
    run.turn?.events?.startTool(part);
    calls.running += 1;
    try {
      const outcome = callThrough(calls, part);
      if (isPromise(outcome)) void follow(calls, index, outcome);
      else settle(calls, index, outcome);
    } catch (error) {
      fail(calls, index, error);
    }
  }
}

async function follow(calls: ToolCalls, index: number, outcome: PromiseLike<ToolResult>): Promise<void> {
  try {
    settle(calls, index, await outcome);
  } catch (error) {
    fail(calls, index, error);
  }
  goOn(calls);
}

/** Starts the remaining calls. If no call is running, ends the wait of `execute`. */
function goOn(calls: ToolCalls): void {
  if (calls.halted) return;
  startMore(calls);
  if (calls.running === 0) calls.release?.();
}

/**
 * Counts a running call as ended. Returns true if its result must be stored. Returns false if it was cancelled or
 * suspended, or if the calls of the turn were halted.
 */
function leave(calls: ToolCalls, index: number): boolean {
  // A result that arrives after the calls were halted, or after its call was cancelled, is ignored.
  if (calls.halted || calls.results[index] !== undefined) return false;
  calls.running -= 1;
  return !calls.suspended.has((calls.parts[index] as ToolCallPart).id);
}

function settle(calls: ToolCalls, index: number, result: ToolResult): void {
  // A hook may have changed the result object.
  const isIntact = isToolResult(result);
  const intact = isIntact ? result : errorResult('A wrapToolCall hook removed the content of the result.');
  if (leave(calls, index)) putResult(calls, index, intact);
}

/**
 * Handles an error that is not a tool failure. A suspended call stays open. Any other error halts the calls of the
 * turn.
 */
function fail(calls: ToolCalls, index: number, error: unknown): void {
  if (!leave(calls, index)) return;
  if (calls.run.end.abortError === undefined) calls.failure = { error };
  calls.halt();
}

/**
 * Runs one call. In a session, waits first if the claim must be renewed, so that a run that lost its session calls no
 * tool.
 */
function callThrough(calls: ToolCalls, part: ToolCallPart): Awaitable<ToolResult> {
  const claiming = calls.run.attached.recorder?.claim.ready();
  return claiming === undefined ? callHooks(calls, part) : claiming.then(() => callHooks(calls, part));
}

/** Runs one call through its `wrapToolCall` hooks, if any. */
function callHooks(calls: ToolCalls, part: ToolCallPart): Awaitable<ToolResult> {
  const { run, prior } = calls;
  const { id, name, invalidInput, needsApproval } = part;
  const { wrapToolCall } = run.config.chain;
  if (wrapToolCall === undefined && !needsApproval) {
    return runTool(new ToolCall(run, invalidInput === undefined ? part : { ...part, input: undefined }, calls));
  }
  const input = invalidInput === undefined ? part.input : undefined;
  const request: ToolCallRequest = {
    id,
    name,
    // A resumed call is part of the caller's own messages, which a hook must not change in place.
    input: prior.approved === undefined ? input : copyData(input),
    additions: undefined,
    invalidInput,
    tool: run.turn?.tools?.find(name),
    approved: prior.approved?.has(id),
    needsApproval,
    run: run.context,
    signal: undefined,
  };
  return (wrapToolCall ?? callTool)(request, { run, open: true, busy: 0 });
}

/** Gives each call without a result an error result. Returns the waiting calls, if any. */
function closeOpenCalls(calls: ToolCalls): SuspendedRun['pending'] | undefined {
  const { run, parts, prior, results, suspended } = calls;
  const isEnding = run.end.verdict !== undefined || run.end.abortError !== undefined || calls.failure !== undefined;
  const open: ToolCallPart[] = [];
  const questions: SuspendedCall[] = [];
  for (const [index, part] of parts.entries()) {
    if (results[index] !== undefined) continue;
    const { id } = part;
    const known = prior.results.get(id);
    const question = prior.waits?.get(id) ?? questionIn(id, suspended.get(id));
    if (known !== undefined) {
      results[index] = resultPartOf(part, known);
    } else if (question !== undefined && !isEnding) {
      open.push(part);
      questions.push(question);
      if (suspended.has(id)) run.turn?.events?.endTool(part, undefined);
    } else {
      const text = withAttempts(calls.reason, run.attached.recorder?.attemptOf(id));
      putResult(calls, index, errorResult(text));
    }
  }
  return open.length > 0 ? pendingIn(run, keepInside(run, open, suspended), questions) : undefined;
}

function putResult({ run, parts, results, begun, prior }: ToolCalls, index: number, result: ToolResult): void {
  const part = parts[index] as ToolCallPart;
  const resultPart = resultPartOf(part, prior.edited?.has(part.id) ? withEditNote(result, part.input) : result);
  results[index] = resultPart;
  run.attached.recorder?.addResult(run, resultPart);
  if (index < begun) run.turn?.events?.endTool(part, resultPart, run.toolErrors?.get(part.id));
  run.toolErrors?.delete(part.id);
}

/** Returns the name and the arguments as JSON, or an empty string if the arguments are not JSON. */
export function approvalText(name: string, input: unknown): string {
  try {
    return JSON.stringify([name, input]);
  } catch {
    return '';
  }
}
