import { describeError, TimeoutExceededError } from '../../errors.js';
import { withinTime } from '../../internal/clock.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import type { Logger } from '../../internal/logger.js';
import { type Awaitable, createDeferred, isPromise } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { HookRun } from '../../lifecycle/hook-run.js';
import type { ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import { describeIssues } from '../../tools/standard-schema.js';
import type { Tool, ToolContext, ToolResult } from '../../tools/tool.js';
import { errorResult, toToolResult } from '../../tools/tool-result.js';
import type { CallsInFlight } from './calls-in-flight.js';
import type { Run } from './run.js';

/**
 * The innermost step of `wrapToolCall`: finds the tool, checks the arguments, runs it. Whatever goes wrong becomes an
 * error result; only an abort rejects.
 */
export function callTool(request: ToolCallRequest, hookRun: HookRun): Awaitable<ToolResult> {
  const run = hookRun as Run;
  run.throwIfAborted();
  // A hook that was left behind may call `next` when its call, or the run, has long been over.
  if (!run.calls?.accepts(request.id))
    return errorResult('The call was not run: no call with this id waits for a result.');
  const call = new ToolCall(run, request);
  const output = call.begin();
  if (output !== undefined) return run.stop === undefined ? call.follow(output) : call.wait(output);
  run.throwIfAborted();
  return call.finalise(undefined);
}

/** What a call is made of: a hook's request, or the model's own part where no hook stands around it. */
type CallInput = Pick<ToolCallRequest, 'id' | 'name' | 'input' | 'additions' | 'invalidInput' | 'signal'>;

/** One call: begun, then finalised with what the tool gave, or failed with what it threw. What the tool is given. */
export class ToolCall implements ToolContext {
  readonly run: Run;
  private readonly call: CallInput;
  private readonly batch: CallsInFlight | undefined;
  private result: ToolResult | undefined = undefined;
  private stop: Stop | undefined = undefined;
  private waiter: { resolve(result: ToolResult): void; reject(error: unknown): void } | undefined = undefined;
  private expired: TimeoutExceededError | undefined = undefined;
  private settled = false;

  constructor(run: Run, call: CallInput) {
    this.run = run;
    this.call = call;
    this.batch = run.calls;
  }

  /** Checks the arguments and starts the tool. Gives a promise where the tool or the check is one. */
  begin(): Promise<unknown> | undefined {
    const { name, input, invalidInput } = this.call;
    try {
      const tool = this.run.snapshot?.find(name);
      if (tool === undefined) return this.refuse(unknownTool(this.run, name));
      if (invalidInput !== undefined && input === undefined) return this.refuse(invalidJson(name, invalidInput));
      const checked = tool.check(input);
      const output = isPromise(checked) ? this.executeLater(tool, checked) : this.execute(tool, checked);
      if (isPromise(output)) {
        const timeoutMs = tool.timeoutMs ?? this.run.config.timeouts.toolMs;
        // A thenable may call back twice, or throw: as a promise it does neither.
        return timeoutMs === undefined ? Promise.resolve(output) : this.inTime(output, timeoutMs);
      }
      if (this.result === undefined) this.result = toToolResult(output);
      return undefined;
    } catch (error) {
      // Where the run was aborted meanwhile, the batch is halted and this result comes too late.
      return this.refuse(errorResultOf(error));
    }
  }

  /** The call's result, from what the tool gave. */
  finalise(output: unknown): ToolResult {
    this.settled = true;
    if (this.stop !== undefined) this.stop.release();
    if (this.result !== undefined) return this.result;
    try {
      return toToolResult(output);
    } catch (error) {
      return errorResultOf(error);
    }
  }

  /** The result for a hook that waits for it. */
  follow(output: Promise<unknown>): Promise<ToolResult> {
    return output.then(
      (value) => this.finalise(value),
      (error) => this.fail(error),
    );
  }

  /** As `follow`, for a run that can be aborted: an interruption comes through, whatever the tool does. */
  wait(output: Promise<unknown>): Promise<ToolResult> {
    const { promise, resolve, reject } = createDeferred<ToolResult>();
    this.waiter = { resolve, reject };
    this.batch?.wait(this);
    output.then(
      (value) => resolve(this.finalise(value)),
      (error) => this.settleFailed(error),
    );
    return promise;
  }

  /** Where an abort ended the calls, a hook sees the abort; else the result that the call got. */
  interrupt(result: ToolResult): void {
    this.settled = true;
    this.stop?.release();
    if (this.run.abortError === undefined) this.waiter?.resolve(result);
    else this.waiter?.reject(this.run.abortError);
  }

  private settleFailed(error: unknown): void {
    try {
      this.waiter?.resolve(this.fail(error));
    } catch (abort) {
      this.waiter?.reject(abort);
    }
  }

  /** The call's result, from what the tool threw. A rejection after an abort is the abort. */
  fail(error: unknown): ToolResult {
    this.settled = true;
    if (this.stop !== undefined) this.stop.release();
    this.run.throwIfAborted();
    return errorResultOf(error);
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
      this.stop = new Stop();
      this.stop.follow(this.call.signal);
      if (this.batch !== undefined) this.stop.followStop(this.batch.stop);
      if (this.expired !== undefined) this.stop.stop(this.expired);
      if (this.settled) this.stop.release();
    }
    return this.stop.signal;
  }

  /** A closure, so that a tool may take its context apart. */
  get progress(): ToolContext['progress'] {
    return (data) => this.report(data);
  }

  private report(data: unknown): void {
    if (this.settled || !this.run.listening || !this.batch?.accepts(this.call.id)) return;
    const { id: callId, name } = this.call;
    this.run.emit({ type: 'tool-delta', runId: this.run.id, turn: this.run.turn, callId, name, data });
  }

  // A function of its own: a closure where it is called would cost every call a context. So `untilReleased` of a batch.
  private executeLater(tool: Tool, checked: PromiseLike<StandardResult<unknown>>): PromiseLike<unknown> {
    return checked.then((later) => this.execute(tool, later));
  }

  private execute(tool: Tool, checked: StandardResult<unknown>): Awaitable<unknown> {
    if (this.settled || this.batch?.halted) return this.refuse(errorResult('The call was not run: it came too late.'));
    if (checked.issues !== undefined) {
      return this.refuse(
        errorResult(`The arguments of "${tool.name}" are not valid: ${describeIssues(checked.issues)}`),
      );
    }
    const { additions } = this.call;
    const input = additions === undefined ? checked.value : withAdditions(tool, checked.value, additions);
    return tool.execute(input, this);
  }

  private async inTime(output: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> {
    const { run, batch } = this;
    const late = new TimeoutExceededError(`tool "${this.toolName}"`, timeoutMs);
    try {
      const timed = withinTime(output, late, run.clock);
      return await (run.stop && batch ? batch.stop.race(timed, timed.clear) : timed);
    } catch (error) {
      if (error === late) {
        this.expired = late;
        this.stop?.stop(late);
      }
      throw error;
    }
  }

  private refuse(result: ToolResult): undefined {
    this.result = result;
  }
}

function errorResultOf(error: unknown): ToolResult {
  return errorResult(describeError(error));
}

function unknownTool(run: Run, name: string): ToolResult {
  const names = run.tools.map((tool) => tool.name).join(', ');
  return errorResult(`There is no tool "${name}". ${names === '' ? 'No tool is offered.' : `Tools: ${names}.`}`);
}

function invalidJson(name: string, raw: string): ToolResult {
  const shown = raw.length > 200 ? `${raw.slice(0, 200)}…` : raw;
  return errorResult(`The arguments of "${name}" are no JSON: ${shown}`);
}

/** Additions join where the schema permits further properties, and never displace an argument. */
function withAdditions(tool: Tool, input: unknown, additions: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(input) || isClosed(tool.inputSchema)) return input;
  return { ...additions, ...input };
}

/** Whether a schema forbids further properties, by itself or by one that it is put together from, such as a union's. */
function isClosed(schema: JsonSchema, defs = schema.$defs as JsonSchema | undefined): boolean {
  const { $ref, additionalProperties, unevaluatedProperties, anyOf, oneOf, allOf } = schema;
  if (additionalProperties === false || unevaluatedProperties === false) return true;
  // `#/$defs/name`. Names inside of what a name stands for are not followed: they may lead in a circle.
  const named = defs?.[`${$ref}`.slice(8)];
  const members = [named, anyOf, oneOf, allOf].flat();
  return members.some((member) => Boolean(member) && isClosed(member as JsonSchema, named ? undefined : defs));
}
