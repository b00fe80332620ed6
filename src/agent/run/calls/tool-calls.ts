import { isPromise } from '../../../internal/promise.js';
import type { Step } from '../../../lifecycle/compose.js';
import type { ToolCallRequest } from '../../../lifecycle/lifecycle.js';
import type { ToolCallPart, ToolResultPart } from '../../../model/message.js';
import type { ToolResult } from '../../../tools/tool.js';
import { errorResult } from '../../../tools/tool-result.js';
import type { PendingCall } from '../../run-result.js';
import type { Run } from '../run.js';
import { announceCall, announceCallEnd } from '../run-events.js';
import { beginTool, type CallInput, finalise, finaliseFailed, ToolCall } from './tool-call.js';
import type { TurnCalls } from './turn-calls.js';

/** A call whose outcome is a promise: its position in the turn, and the call unless it has wraps. */
interface StartedCall {
  readonly index: number;
  readonly call: ToolCall | undefined;
}

/**
 * Starts the calls of a turn, as many at once as the run allows. Returns a promise while any of them runs: its outcome
 * goes to `settleSingle` or `failSingle`. Starts none when the run has its verdict already.
 */
export function executeCalls(calls: TurnCalls): PromiseLike<unknown> | undefined {
  const { end } = calls.run;
  if (end.verdict !== undefined) return undefined;
  end.calls = calls;
  if (calls.parts.length === 1 && end.stop === undefined) {
    const output = startSingle(calls);
    if (output !== undefined) return output;
  } else {
    startCalls(calls);
  }
  return calls.running === 0 || calls.halted ? undefined : untilDone(calls);
}

function untilDone(calls: TurnCalls): Promise<void> {
  return new Promise((resolve) => {
    calls.release = resolve;
  });
}

/**
 * Starts the one call of a turn when nothing can abort the run: the loop awaits the promise of the tool, or of its wraps,
 * itself, which makes a turn a tenth cheaper.
 */
function startSingle(calls: TurnCalls): PromiseLike<unknown> | undefined {
  const output = startCall(calls, calls.begun++);
  if (output === undefined) return undefined;
  if (calls.run.end.stop !== undefined || calls.halted) {
    follow(calls, { index: 0, call: calls.latest }, output);
    return undefined;
  }
  calls.single = true;
  return output;
}

/** Stores the result of the call that the loop awaited directly. Does nothing when it awaited several calls. */
export function settleSingle(calls: TurnCalls, outcome: unknown): void {
  if (calls.single) settleCall(calls, 0, resultOf(calls.latest, outcome));
}

/** As `settleSingle`, for an error. */
export function failSingle(calls: TurnCalls, error: unknown): void {
  if (calls.single) failStarted(calls, { index: 0, call: calls.latest }, error);
}

/** Starts as many calls as may run now. */
function startCalls(calls: TurnCalls): void {
  const limit = calls.run.config.parallelToolCalls;
  while (!calls.halted && calls.running < limit && calls.begun < calls.parts.length) {
    const index = calls.begun++;
    const output = startCall(calls, index);
    if (output !== undefined) follow(calls, { index, call: calls.latest }, output);
  }
}

/**
 * Starts one call, through its wraps if there are any. Returns a promise of its outcome and sets `calls.latest`, or stores
 * the result at once.
 */
function startCall(calls: TurnCalls, index: number): PromiseLike<unknown> | undefined {
  const { run, prior } = calls;
  const part = calls.parts[index] as ToolCallPart;
  // A result that is known already joins the others in `finaliseCalls`.
  if (prior?.results.has(part.id)) return undefined;
  if (run.listeners.active) announceCall(run, part);
  const { wrapToolCall } = run.config.chain;
  if (wrapToolCall !== undefined) return startWrapped(calls, index, wrapToolCall);
  const call = new ToolCall(run, inputOf(part), calls);
  const output = beginTool(call);
  if (isPromise(output)) {
    calls.latest = call;
    return output;
  }
  settleCall(calls, index, finalise(call, output));
  return undefined;
}

function startWrapped(
  calls: TurnCalls,
  index: number,
  wrapToolCall: Step<ToolCallRequest, ToolResult>,
): PromiseLike<unknown> | undefined {
  const { run, prior } = calls;
  calls.latest = undefined;
  try {
    const output = wrapToolCall(requestOf(run, calls.parts[index] as ToolCallPart, prior?.approved), run);
    if (isPromise(output)) return output;
    settleCall(calls, index, output);
  } catch (error) {
    failCall(calls, index, error);
  }
  return undefined;
}

function follow(calls: TurnCalls, started: StartedCall, output: PromiseLike<unknown>): void {
  calls.running += 1;
  output.then(
    (outcome) => {
      settleCall(calls, started.index, resultOf(started.call, outcome));
      proceed(calls);
    },
    (error) => {
      failStarted(calls, started, error);
      proceed(calls);
    },
  );
}

/** The result of a call without wraps is made of what the tool gave; wraps give a result. */
function resultOf(call: ToolCall | undefined, outcome: unknown): ToolResult {
  return call === undefined ? (outcome as ToolResult) : finalise(call, outcome);
}

/** An error of a tool becomes its result; an abort, and an error of a wrap, end the turn. */
function failStarted(calls: TurnCalls, { index, call }: StartedCall, error: unknown): void {
  if (call === undefined) return failCall(calls, index, error);
  try {
    settleCall(calls, index, finaliseFailed(call, error));
  } catch (abort) {
    failCall(calls, index, abort);
  }
}

function proceed(calls: TurnCalls): void {
  calls.running -= 1;
  if (calls.halted) return;
  if (calls.begun < calls.parts.length) startCalls(calls);
  if (calls.running === 0) calls.release?.();
}

/** A result that comes after the calls were halted comes too late: the call has one. */
function settleCall(calls: TurnCalls, index: number, result: ToolResult): void {
  if (calls.halted || calls.run.suspended?.has((calls.parts[index] as ToolCallPart).id)) return;
  putResult(calls, index, result);
}

/** A suspended call unwinds as an error, and stays open. Any other failure halts the calls beside it. */
function failCall(calls: TurnCalls, index: number, error: unknown): void {
  const { end, suspended } = calls.run;
  if (calls.halted || suspended?.has((calls.parts[index] as ToolCallPart).id)) return;
  if (end.abortError === undefined) calls.failure = { error };
  calls.halt();
}

function putResult(calls: TurnCalls, index: number, result: ToolResult): void {
  const part = calls.parts[index] as ToolCallPart;
  const { run, results } = calls;
  const resultPart = resultPartOf(part, result);
  results[index] = resultPart;
  if (run.listeners.active && index < calls.begun) announceCallEnd(run, part, resultPart);
}

/**
 * Adds the results of a turn's calls to the conversation, one message in call order, then what was added meanwhile. A
 * call without a result gets an error result, unless it was suspended and the run can wait for it.
 */
export function finaliseCalls(calls: TurnCalls): void {
  const { run, results } = calls;
  const { end, conversation } = run;
  end.calls = undefined;
  conversation.resuming = undefined;
  const pending = closeOpenCalls(calls);
  const given = pending === undefined ? results : results.filter((result) => result !== undefined);
  if (given.length > 0) conversation.push({ role: 'tool', content: given as ToolResultPart[] });
  run.pending = pending;
  conversation.flush();
}

/** Returns the calls that stay open. */
function closeOpenCalls(calls: TurnCalls): readonly PendingCall[] | undefined {
  const { run, parts, prior, results } = calls;
  let pending: PendingCall[] | undefined;
  for (let i = 0; i < parts.length; i++) {
    if (results[i] !== undefined) continue;
    const part = parts[i] as ToolCallPart;
    const known = prior?.results.get(part.id);
    const suspended = run.suspended?.get(part.id);
    if (known !== undefined) {
      results[i] = resultPartOf(part, known);
    } else if (suspended?.action.type === 'suspend' && !(run.end.verdict || run.end.abortError || calls.failure)) {
      pending ??= [];
      pending.push({ ...part, reason: suspended.action.reason, by: suspended.by });
      if (run.listeners.active) announceCallEnd(run, part, undefined);
    } else {
      putResult(calls, i, errorResult(calls.reason));
    }
  }
  calls.close();
  return pending;
}

/** A call's result as it stands in the conversation. */
export function resultPartOf({ id, name }: ToolCallPart, { content, structured, isError }: ToolResult): ToolResultPart {
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

/** The part as it is, unless its arguments were not JSON. */
function inputOf(part: ToolCallPart): CallInput {
  return part.invalidInput === undefined ? part : { ...part, input: undefined };
}

/** A call as the hooks around it see it. */
function requestOf(run: Run, part: ToolCallPart, approved: boolean | undefined): ToolCallRequest {
  const { id, name, input, invalidInput } = part;
  return {
    id,
    name,
    input: invalidInput === undefined ? input : undefined,
    additions: undefined,
    invalidInput,
    tool: run.tools?.find(name),
    approved,
    run: run.context,
    signal: undefined,
  };
}
