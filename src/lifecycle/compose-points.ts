import { describeError, HookResultInvalidError, KeelsonError } from '../errors.js';
import { hasSameSignal, keepSignal } from '../model/lazy-signal.js';
import type { WaitingRun } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import { wholeResponse } from '../model/whole-response.js';
import type { Tool, ToolResult } from '../tools/tool.js';
import { errorResult, isToolResult, wholeResult } from '../tools/tool-result.js';
import type { WrapPoint } from './compose.js';
import type { SuspendAction } from './hook-action.js';
import { type HookRun, hookRunOf } from './hook-run/hook-run.js';
import type { ModelCallRequest, ToolCallRequest } from './lifecycle.js';
import { RejectedError } from './run-failure.js';

/** Thrown through the `wrapToolCall` hooks when one of them suspends the tool call. */
export class CallSuspendedError extends KeelsonError {
  readonly code = 'ERR_CALL_SUSPENDED';

  constructor(reason: string) {
    super(`The call is suspended: ${reason}`);
  }
}

export const wrapModelCallPoint: WrapPoint<ModelCallRequest, ModelResponse> = {
  name: 'wrapModelCall',
  call: ({ lifecycle }, request, next) => lifecycle.wrapModelCall?.(request as never, next as never),
  accept(value, _site, { given }) {
    if (!isAction(value)) return wholeResponse(value as ModelResponse, given);
    const expected = 'wrapModelCall must return a model response; `request.run.end()` takes an action';
    throw new HookResultInvalidError(expected, value);
  },
  passOn({ entry, point, run }, before, given) {
    const after = keepSignal(given, before);
    const changed = keysOf(before).filter((key) =>
      key === 'signal' ? !hasSameSignal(before, after) : before[key] !== after[key],
    );
    for (const key of keysOf(after)) if (!(key in before)) changed.push(key);
    if (changed.length > 0) run.record({ type: 'modify', by: entry.name, point, after: changed });
    return after;
  },
  recordResult({ entry, point, run }, _request, { given, result }) {
    if (given === undefined) run.record({ type: 'respond', by: entry.name, point, after: result });
    else run.record({ type: 'modify', by: entry.name, point, before: given, after: result });
  },
  blocked({ entry, point, run }, error) {
    throw run.end.own(new RejectedError(describeError(error), entry.name, point));
  },
};

export const wrapToolCallPoint: WrapPoint<ToolCallRequest, ToolResult> = {
  name: 'wrapToolCall',
  // An outer hook may have changed `call.name` or `call.input` in place. Such a change is not approved by `resume`.
  call: ({ lifecycle }, call, next) => {
    const named = call.tool?.name === call.name ? call : withTool(call, call.run.tools);
    const isChanged = named.approved && hookRunOf(named.run)?.end.calls?.isApproved(named) === false;
    return lifecycle.wrapToolCall?.((isChanged ? { ...named, approved: undefined } : named) as never, next as never);
  },
  callOf: ({ id, name }) => ({ id, name }),
  accept(value, { entry, run }, { request }) {
    if (isToolResult(value)) return wholeResult(value);
    if (isAction(value) && value.type === 'suspend') {
      const action = value as SuspendAction;
      throw suspend(run, request, { ...action, by: action.by ?? entry.name });
    }
    const expected = 'wrapToolCall must return a tool result with `content`, or HookAction.suspend()';
    const endsRun = isAction(value) && (value.type === 'reject' || value.type === 'respond');
    const advice = endsRun ? `; to end the run, call \`call.run.end(HookAction.${value.type}(…))\`` : '';
    throw new HookResultInvalidError(expected + advice, value);
  },
  passOn({ entry, point, run, call }, before, after) {
    const decision = { type: 'modify', by: entry.name, point, call } as const;
    if (before.name !== after.name || before.additions !== after.additions) {
      run.record({ ...decision, before: shown(before), after: shown(after) });
    } else if (before.input !== after.input) {
      run.record({ ...decision, before: before.invalidInput ?? before.input, after: after.input });
    }
    // `call.tool` must be the tool that will run, because inner hooks rely on it.
    // A changed id becomes an empty id, which no call has, so the call gets an error result instead of running.
    return withTool(before.id === after.id ? after : { ...after, id: '' }, run.context.tools);
  },
  recordResult({ entry, point, run, call }, { id }, { given, result }) {
    // The call stays suspended even if an outer hook caught the error and returned a result.
    if (run.end.calls?.suspended.has(id)) return;
    const decision = { by: entry.name, point, call, after: result.content };
    if (given !== undefined) run.record({ ...decision, type: 'modify', before: given.content });
    else run.record({ ...decision, type: result.isError ? 'block' : 'respond' });
  },
  blocked({ entry }, error, hasCalled) {
    const outcome = hasCalled ? 'The tool may have run, but its result is withheld' : 'The call was blocked';
    return errorResult(`${outcome}, because "${entry.name}" failed: ${describeError(error)}`);
  },
};

function keysOf(request: ModelCallRequest): (keyof ModelCallRequest)[] {
  return Object.keys(request) as (keyof ModelCallRequest)[];
}

function withTool(call: ToolCallRequest, tools: readonly Tool[]): ToolCallRequest {
  const tool = tools.find(({ name }) => name === call.name);
  return tool === call.tool ? call : { ...call, tool };
}

function shown({ name, input, additions }: ToolCallRequest): unknown {
  return additions === undefined ? { name, input } : { name, input, additions };
}

function isAction(value: unknown): value is { readonly type: string } {
  return typeof (value as { type?: unknown } | null | undefined)?.type === 'string';
}

/** Suspends a tool call. Returns the error to throw. */
export function suspend(
  run: HookRun,
  { id, name }: Pick<ToolCallRequest, 'id' | 'name'>,
  { inside, ...action }: SuspendAction & { readonly by: string; readonly inside?: WaitingRun },
): Error {
  const { by, reason } = action;
  run.end.calls?.suspend(id, { action, by, point: 'wrapToolCall', inside });
  run.record({ type: 'suspend', by, point: 'wrapToolCall', reason, call: { id, name } });
  return run.end.own(new CallSuspendedError(reason));
}
