import { describeError, TimeoutExceededError } from '../../../errors.js';
import { withinTime } from '../../../internal/clock.js';
import type { Logger } from '../../../internal/logger.js';
import { copyData, isSameData } from '../../../internal/plain-data.js';
import { type Awaitable, isPromise } from '../../../internal/promise.js';
import { Stop } from '../../../internal/stop.js';
import { suspend } from '../../../lifecycle/compose-points.js';
import { type CallScope, callKey } from '../../../lifecycle/hook-run/hook-run.js';
import type { CallsInFlight, EnteredCall, RunEnd } from '../../../lifecycle/hook-run/run-end.js';
import type { ToolCallRequest } from '../../../lifecycle/lifecycle.js';
import type { WaitingRun } from '../../../model/message.js';
import { withAdditions } from '../../../tools/additions.js';
import { describeIssues, type StandardIssue, type StandardResult } from '../../../tools/standard-schema.js';
import type { Tool, ToolContext, ToolResult, ToolRun } from '../../../tools/tool.js';
import { errorResult, toolResult, toToolResult } from '../../../tools/tool-result.js';
import { CALL, OuterCall } from '../outer-call.js';
import { type Run, RunView } from '../run.js';
import { budgetsOver } from './model-call.js';

/** The input of one tool call: the request of a hook, or the model's message part if there is no hook. */
export type CallInput = Pick<ToolCallRequest, 'id' | 'name' | 'input' | 'additions' | 'invalidInput' | 'signal'>;

/**
 * The innermost step of `wrapToolCall`. A failure of the tool becomes an error result. Only an abort throws or rejects.
 */
export function callTool(request: ToolCallRequest, scope: CallScope): Awaitable<ToolResult> {
  const run = scope.run as Run;
  const { end } = run;
  end.throwIfAborted();
  // An abandoned hook may call `next` after its tool call or the run has ended.
  if (!end.calls?.accepts(request.id)) {
    return errorResult('The call was not run: no call with this id waits for a result.');
  }
  if (request.needsApproval) return decided(request, run);
  const result = runTool(new ToolCall(run, request, end.calls));
  if (!isPromise(result)) end.throwIfAborted();
  return result;
}

/** Handles a call that the provider executes after an approval. Suspends the call, unless `resume` has approved it. */
function decided(request: ToolCallRequest, run: Run): ToolResult {
  if (request.approved) return { content: 'The call was approved.' };
  const { model } = run.config;
  const reason = `"${request.name}" needs approval.`;
  throw suspend(run, request, { type: 'suspend', reason, by: model.provider ?? model.id });
}

/** Runs the tool of a call. A failure becomes an error result. Rejects only if the run is aborted. */
export function runTool(call: ToolCall): Awaitable<ToolResult> {
  const output = begin(call);
  if (!isPromise(output)) return finish(call, output);
  return output.then(
    (value) => finish(call, value),
    (error) => finishFailed(call, error),
  );
}

/** Finds the tool, checks the arguments and starts the tool. Never throws: a failure becomes an error result. */
function begin(call: ToolCall): unknown {
  const { loop, input } = call;
  // A hook may call `next` again, so remove the error of the last attempt.
  loop.toolErrors?.delete(call.callId);
  try {
    const refused = refusedByBudget(loop);
    if (refused !== undefined) return refusal(`The call was not run: ${refused}`);
    const tool = loop.turn?.tools?.find(input.name);
    if (tool === undefined) return refusal(unknownTool(loop, input.name));
    if (input.input === undefined && input.invalidInput !== undefined) {
      const raw = input.invalidInput.length > 200 ? `${input.invalidInput.slice(0, 200)}…` : input.invalidInput;
      return refusal(`The arguments of "${input.name}" are no JSON: ${raw}`);
    }
    // A copy, because a tool may change its arguments, and the conversation keeps what the model wrote.
    const checked = tool.check(copyData(input.input));
    // `Promise.resolve` guards against a foreign thenable that settles twice or throws.
    const output = isPromise(checked)
      ? Promise.resolve(checked).then((later) => execute(call, tool, later))
      : execute(call, tool, checked);
    if (!isPromise(output)) return output;
    const timeoutMs = tool.timeoutMs ?? loop.config.timeouts.toolMs;
    if (timeoutMs !== undefined) return inTime(call, output, timeoutMs);
    return loop.end.stop === undefined ? Promise.resolve(output) : call.calls.stop.race(output);
  } catch (error) {
    return thrown(call, error);
  }
}

/** Returns the reason if a budget refuses the tool call. */
function refusedByBudget(run: Run): string | undefined {
  for (const budget of budgetsOver(run)) {
    const reason = budget.admitTool?.();
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Stands for the output of a tool without `execute`. */
const RUN_BY_CALLER = Symbol('run by the caller');

/** Runs the tool with the checked arguments. */
function execute(call: ToolCall, tool: Tool, checked: StandardResult<unknown>): Awaitable<unknown> {
  const { calls } = call;
  if (call.settled || calls.halted || calls.cancelled?.has(call.callId))
    return refusal('The call was not run: it already has a result.');
  if (checked.issues !== undefined) {
    return executeAgain(call, tool, checked.issues);
  }
  if (tool.execute === undefined) return RUN_BY_CALLER;
  calls.ran?.add(call.callId);
  const { additions } = call.input;
  return tool.execute(additions === undefined ? checked.value : withAdditions(tool, checked.value, additions), call);
}

/**
 * Checks the arguments again without `null` members, and runs the tool if they are valid now. Imports the code on first
 * use, because most arguments are valid.
 */
async function executeAgain(call: ToolCall, tool: Tool, given: readonly StandardIssue[]): Promise<unknown> {
  const { checkAgain } = await import('../../../tools/received-args.js');
  const checked = await checkAgain((value) => tool.check(value), call.input.input, given);
  if (checked.issues === undefined) return execute(call, tool, checked);
  return refusal(`The arguments of "${tool.name}" are not valid: ${describeIssues(checked.issues)}`);
}

/** Ends the call and converts the tool's output to a result. Throws for a call that the caller of the agent runs. */
function finish(call: ToolCall, output: unknown): ToolResult {
  call.settle();
  if (output === RUN_BY_CALLER) return leaveToCaller(call);
  if (call.waits !== undefined) return waitInside(call, call.waits);
  try {
    return toToolResult(output);
  } catch (error) {
    return errorResult(describeError(error));
  }
}

/**
 * Suspends a call of a tool without `execute`. Its caller runs the tool with the arguments of the model, so a call that
 * a hook has changed gets an error result.
 */
function leaveToCaller({ loop, input, calls, toolName: by }: ToolCall): ToolResult {
  const made = calls.parts.find(({ id }) => id === input.id);
  if (made?.name !== input.name || !isSameData(made.input, input.input)) {
    return errorResult(
      'The call was not run: a hook changed its name or arguments, but the caller of the agent has the original call.',
    );
  }
  throw suspend(loop, input, { type: 'suspend', reason: `The caller runs "${by}".`, by });
}

/** Suspends a call because its nested run is suspended. */
function waitInside({ loop, input }: ToolCall, inside: WaitingRun): ToolResult {
  const { agent: by } = inside;
  throw suspend(loop, input, { type: 'suspend', reason: `Agent "${by}" waits for decisions.`, by, inside });
}

/** Ends the call and converts the tool's error to a result. Throws the abort error if the run is aborted. */
function finishFailed(call: ToolCall, error: unknown): ToolResult {
  call.settle();
  call.loop.end.throwIfAborted();
  return call.calls.halted ? errorResult(call.calls.reason) : thrown(call, error);
}

/** Makes an error result for the model, and stores the error itself for `tool-end` and for traces. */
function thrown({ loop, callId, toolName, logger }: ToolCall, error: unknown): ToolResult {
  loop.toolErrors ??= new Map();
  loop.toolErrors.set(callId, error);
  logger.debug(`Tool "${toolName}" threw an error.`, error);
  return refusal(describeError(error));
}

/** Waits until the tool settles, its time limit is exceeded, or the calls of the turn are halted. */
async function inTime(call: ToolCall, output: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> {
  const { loop, calls } = call;
  const late = new TimeoutExceededError(`tool "${call.toolName}"`, timeoutMs);
  const timed = withinTime(output, late, loop.config.clock);
  try {
    return await (loop.end.stop === undefined ? timed : calls.stop.race(timed, timed.clear));
  } catch (error) {
    if (error === late) call.expire(late);
    throw error;
  }
}

function refusal(text: string): ToolResult {
  return toolResult(errorResult(text));
}

function unknownTool(run: Run, name: string): string {
  const names = run.context.tools.map((tool) => tool.name).join(', ');
  return `There is no tool "${name}". ${names === '' ? 'No tool is offered.' : `Tools: ${names}.`}`;
}

/** The context of one tool call, passed to `execute`. */
export class ToolCall implements ToolContext, EnteredCall {
  readonly callId: string;
  readonly toolName: string;
  readonly context: unknown;
  readonly logger: Logger;
  /** The idempotency key, if the call belongs to a session. */
  private readonly recordedKey: string | undefined;
  private readonly turn: number;
  /** Set once the call has its result. */
  settled = false;
  private view: (ToolRun & { readonly [CALL]: OuterCall }) | undefined = undefined;
  private stop: Stop | undefined = undefined;
  private expired: unknown = undefined;

  constructor(
    readonly loop: Run,
    readonly input: CallInput,
    readonly calls: CallsInFlight,
  ) {
    this.callId = input.id;
    this.toolName = input.name;
    this.context = loop.origin.context;
    this.logger = loop.config.logger;
    this.recordedKey = loop.attached.recorder?.callKey(input.id);
    this.turn = loop.context.turn;
  }

  /**
   * The run as the tool sees it. Each call has its own view, so that a nested run can find the call that started it.
   */
  get run(): ToolRun {
    this.view ??= Object.assign(new RunView(this.loop), { [CALL]: new OuterCall(this) });
    return this.view;
  }

  get idempotencyKey(): string {
    return this.recordedKey ?? callKey(this.loop, this.callId, this.turn);
  }

  get attempt(): number {
    return this.loop.attached.recorder?.attemptOf(this.callId) ?? 1;
  }

  get signal(): AbortSignal {
    return this.stopper.signal;
  }

  get stopper(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      this.calls.entered ??= [];
      this.calls.entered.push(this);
      this.stop.follow(this.input.signal);
      this.stop.followStop(this.calls.stop);
      if (this.expired !== undefined) this.stop.stop(this.expired);
      if (this.settled) this.stop.release();
    }
    return this.stop;
  }

  get inside(): readonly RunEnd[] {
    return this.view?.[CALL].inside ?? [];
  }

  /** The suspended nested run, if the call waits for decisions. */
  get waits(): WaitingRun | undefined {
    return this.view?.[CALL].waits;
  }

  /** Returns a closure, so that a tool can destructure its context. */
  get progress(): ToolContext['progress'] {
    return (data) => this.report(data);
  }

  /** Marks the call as settled and removes its abort listeners. */
  settle(): void {
    this.settled = true;
    if (this.stop !== undefined) this.stop.release();
  }

  /** Aborts the call's signal, because the call exceeded its time limit or was cancelled. */
  expire(reason: unknown): void {
    this.expired = reason;
    this.stop?.stop(reason);
  }

  private report(data: unknown): void {
    const { listeners, context } = this.loop;
    if (this.settled || !listeners.active || !this.calls.accepts(this.callId)) return;
    const { callId, toolName: name, turn } = this;
    listeners.emit({ type: 'tool-delta', runId: context.id, turn, callId, name, data });
  }
}
