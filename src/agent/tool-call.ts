import pTimeout from 'p-timeout';
import { describeError, TimeoutExceededError } from '../errors.js';
import { timersOf } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { HookRun } from '../lifecycle/hook-run.js';
import type { ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { StandardResult } from '../tools/standard-schema.js';
import { describeIssues } from '../tools/standard-schema.js';
import type { Tool, ToolContext, ToolResult } from '../tools/tool.js';
import { errorResult, toToolResult } from '../tools/tool-result.js';
import type { CallsInFlight, Run } from './run.js';

/**
 * The innermost step of `wrapToolCall`: finds the tool, checks the arguments, runs it. Whatever goes wrong becomes an
 * error result; only an abort rejects.
 */
export function callTool(call: ToolCallRequest, hookRun: HookRun): Awaitable<ToolResult> {
  const run = hookRun as Run;
  run.throwIfAborted();
  const tool = run.snapshot?.find(call.name);
  if (tool === undefined) return unknownTool(run, call.name);
  if (call.invalidInput !== undefined && call.input === undefined) return invalidJson(tool, call.invalidInput);
  const bound = { tool, context: new CallContext(run, call) };
  try {
    const checked = tool.check(call.input);
    if (isPromise(checked)) return executeLater(bound, checked);
    return execute(bound, checked);
  } catch (error) {
    return bound.context.fail(error);
  }
}

interface BoundCall {
  readonly tool: Tool;
  readonly context: CallContext;
}

async function executeLater(bound: BoundCall, checking: PromiseLike<StandardResult<unknown>>): Promise<ToolResult> {
  try {
    return await execute(bound, await checking);
  } catch (error) {
    return bound.context.fail(error);
  }
}

function execute({ tool, context }: BoundCall, checked: StandardResult<unknown>): Awaitable<ToolResult> {
  if (checked.issues !== undefined) {
    return errorResult(`The arguments of "${tool.name}" are not valid: ${describeIssues(checked.issues)}`);
  }
  const { additions } = context.call;
  const input = additions === undefined ? checked.value : withAdditions(tool, checked.value, additions);
  const output = tool.execute(input, context);
  if (!isPromise(output)) return context.settle(output);
  const timeoutMs = tool.timeoutMs ?? context.run.config.timeouts.toolMs;
  if (timeoutMs !== undefined) return executeInTime(context, output, timeoutMs);
  return output.then(
    (value) => context.settle(value),
    (error) => context.fail(error),
  ) as Promise<ToolResult>;
}

async function executeInTime(
  context: CallContext,
  output: PromiseLike<unknown>,
  timeoutMs: number,
): Promise<ToolResult> {
  const error = new TimeoutExceededError(`tool "${context.toolName}"`, timeoutMs);
  const customTimers = timersOf(context.run.clock);
  try {
    return context.settle(await pTimeout(output, { milliseconds: timeoutMs, message: error, customTimers }));
  } catch (caught) {
    if (caught === error) context.abort(error);
    return context.fail(caught);
  }
}

/** What a tool is given. Its signal is made on first use. */
class CallContext implements ToolContext {
  private stop: Stop | undefined = undefined;
  private settled = false;
  private readonly batch: CallsInFlight | undefined;

  constructor(
    readonly run: Run,
    readonly call: ToolCallRequest,
  ) {
    this.batch = run.calls;
  }

  get callId(): string {
    return this.call.id;
  }

  get toolName(): string {
    return this.call.name;
  }

  get context(): unknown {
    return this.run.context;
  }

  get logger(): Logger {
    return this.run.logger;
  }

  get signal(): AbortSignal {
    if (this.stop === undefined) {
      const stop = new Stop();
      this.stop = stop;
      stop.follow(this.call.signal);
      if (this.batch !== undefined && !this.settled) stop.followStop(this.batch.stop);
    }
    return this.stop.signal;
  }

  progress(data: unknown): void {
    if (this.settled || !this.run.listening) return;
    const { id: callId, name } = this.call;
    this.run.emit({ type: 'tool-delta', runId: this.run.id, turn: this.run.turn, callId, name, data });
  }

  abort(reason: unknown): void {
    this.stop?.stop(reason);
  }

  settle(output: unknown): ToolResult {
    this.release();
    try {
      return toToolResult(output);
    } catch (error) {
      return errorResultOf(error);
    }
  }

  /** A rejection after an abort is the abort; any other becomes an error result. */
  fail(error: unknown): ToolResult {
    this.release();
    this.run.throwIfAborted();
    return errorResultOf(error);
  }

  private release(): void {
    this.settled = true;
    this.stop?.release();
  }
}

function errorResultOf(error: unknown): ToolResult {
  return errorResult(describeError(error));
}

function unknownTool(run: Run, name: string): ToolResult {
  const names = run.tools.map((tool) => tool.name).join(', ');
  return errorResult(`There is no tool "${name}". ${names === '' ? 'No tool is offered.' : `Tools: ${names}.`}`);
}

function invalidJson(tool: Tool, raw: string): ToolResult {
  const shown = raw.length > 200 ? `${raw.slice(0, 200)}…` : raw;
  return errorResult(`The arguments of "${tool.name}" are no JSON: ${shown}`);
}

/** Additions join where the schema permits further properties, and never displace an argument. */
function withAdditions(tool: Tool, input: unknown, additions: Readonly<Record<string, unknown>>): unknown {
  const permits = tool.inputSchema.additionalProperties !== false;
  if (!permits || typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  return { ...additions, ...input };
}
