import { HookResultInvalidError } from '../errors.js';
import { isObject, type JsonValue } from '../internal/json.js';
import { boolean, callable, texts } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { HookAction } from '../lifecycle/hook-action.js';
import { hookRunOf, whileAsking } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ToolCallNext, ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { deniedCall } from '../model/denial.js';
import { withEditNote } from '../model/edited-call.js';
import { assertEdit } from '../tools/edit-check.js';
import { type EditedApproval, isEdit, kindOf, resolveEdit } from '../tools/edited-approval.js';
import { checkedArgs } from '../tools/received-args.js';
import type { Tool, ToolResult, ToolRun } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import { isRunByCaller } from '../tools/tool-set.js';
import { checkToolNames } from './tool-name-check.js';

/** Options of `approval`: the tool calls that need approval, and the function that asks a person. */
export interface ApprovalOptions<Context = unknown> {
  /**
   * The names of the tools whose calls need approval. If neither `tools` nor `when` is set, every call needs approval,
   * except calls of the application's own tools with the annotation `readOnly`.
   *
   * The annotation does not count for a tool with an `origin`, such as a tool of an MCP server, because it is not
   * trusted.
   */
  readonly tools?: readonly string[] | undefined;
  /**
   * Returns true, or a reason for the person, if a call needs approval. If `tools` is also set, a call needs approval
   * if either option selects it. `call.input` has the defaults of the tool's schema.
   */
  readonly when?: ((call: ToolCallRequest<Context>) => Awaitable<boolean | string>) | undefined;
  /**
   * Decides on a call. `call.input` has the final arguments, with the defaults of the tool's schema. If `ask` returns
   * `undefined` or is not set, the call is suspended. Called for one call at a time within a run and its nested runs.
   *
   * `signal` is aborted when the question no longer matters: the run was stopped, or the session received a message
   * with `when: 'now'`, which denies the call.
   *
   * The type accepts any string, because an `async` function without parameters loses its literal types. Any string
   * other than 'approve' and 'deny' is an error.
   */
  readonly ask?:
    | ((
        call: ToolCallRequest<Context>,
        reason: string,
        signal: AbortSignal,
      ) => Awaitable<ApprovalAnswer | (string & Record<never, never>) | undefined>)
    | undefined;
  /** Calls `ask` for all calls of a turn at the same time, for example to show one card per call. Default: false. */
  readonly askInParallel?: boolean | undefined;
  /**
   * Accepts names in `tools` that match no tool. Set it if several agents share the lifecycle and not all of them have
   * these tools. If false, such a name ends the run with an OptionInvalidError. Default: false.
   */
  readonly optional?: boolean | undefined;
}

/**
 * The decision that `ask` returns. The option `resume` of a run takes the same values. `{ approve: input }` changes the
 * arguments.
 */
export type ApprovalAnswer = 'approve' | 'deny' | { readonly deny: string } | { readonly approve: JsonValue };

/**
 * Makes a lifecycle that runs the selected tool calls only after approval. `ask` decides at once. Without an answer,
 * the call is suspended: the run ends with status `suspended` and continues with `resume`, in this or another process.
 * To continue, only the messages of the result are needed.
 *
 * An approved call is not passed to `ask` again. A denied call gets an error result. A call of an unknown tool needs no
 * approval, because nothing runs. A call of a tool without `execute` is passed to `ask`, but does not wait for an
 * approval, because its caller decides. A call that the provider executes after an approval always needs approval.
 *
 * If `when` or `ask` throws, the tool does not run and the call gets an error result. A name in `tools` that matches no
 * tool ends the run with an OptionInvalidError. A name with the prefix of a configured MCP server is accepted, because
 * the server may add the tool later.
 *
 * Priority 5: innermost, so that `ask` sees the final arguments and is not called for calls that other hooks refuse.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [approval({ tools: ['pay', 'erase'] })] });
 */
export function approval<Context = unknown>(options: ApprovalOptions<Context> = {}): AgentLifecycle<Context> {
  validateOptions(options, rules);
  const { when, ask, askInParallel, optional } = options;
  const tools = options.tools && [...options.tools];
  const queues = new WeakMap<object, Promise<unknown>>();
  const names = tools && !optional ? checkToolNames('approval({ tools })', tools, true) : undefined;
  return {
    name: 'approval',
    priority: 5,
    onFailure: 'block',
    onInit: names?.onInit,
    beforeModel: names && ((_messages, run) => names.check(run)),
    async wrapToolCall(call, next) {
      if (call.approved || (call.tool === undefined && !call.needsApproval)) return next(call);
      const tested = when === undefined ? call : await withReceivedArgs(call);
      const need = call.needsApproval === true || (await needOf(tested, { tools, when }));
      if (need === false) return next(call);
      const shown = when === undefined && ask !== undefined ? await withReceivedArgs(call) : tested;
      const reason = typeof need === 'string' ? need : `"${call.name}" needs approval.`;
      const pending = hookRunOf(call.run)?.onMoment?.({ kind: 'approval', call, reason });
      const refusal = pending === undefined ? undefined : await pending;
      if (refusal !== undefined) return errorResult(deniedCall(refusal));
      const run = call.run as RunContext;
      const question = () => ask && whileAsking(run, reason, (signal) => ask(shown, reason, signal));
      const asking = askInParallel ? question() : inTurn(queues, run, question);
      const answer = (await asking) as ApprovalAnswer | undefined;
      // A call of a tool without `execute` waits for its caller anyway.
      if (answer === undefined)
        return isRunByCaller(call.tool as Tool | undefined) ? next(call) : HookAction.suspend(reason);
      const decision = isEdit(answer) ? resolveEdit(shown, answer) : answer;
      if (decision === 'approve') return next(call.needsApproval ? { ...call, approved: true } : call);
      if (isEdit(decision)) return runEdited(call, decision, next);
      const why = reasonOf(decision);
      void hookRunOf(call.run)?.onMoment?.({ kind: 'denial', call, reason: why ?? '' });
      return errorResult(deniedCall(why));
    },
  };
}

/** Returns a copy of the call with the arguments that its tool gets. */
async function withReceivedArgs<Context>(call: ToolCallRequest<Context>): Promise<ToolCallRequest<Context>> {
  return { ...call, input: await checkedArgs(call.tool as Tool | undefined, call.input) };
}

/** Runs a call with changed arguments, which must match the tool's schema. */
async function runEdited<Context>(
  call: ToolCallRequest<Context>,
  { approve: input }: EditedApproval,
  next: ToolCallNext,
): Promise<ToolResult> {
  const { id, name } = call;
  const tool = call.tool as Tool | undefined;
  const needs = isRunByCaller(tool) ? 'result' : undefined;
  const kind = kindOf({ needs, needsApproval: call.needsApproval });
  await assertEdit({ id, name, tool, kind }, { approve: input });
  return withEditNote(await next({ ...call, input, invalidInput: undefined } as ToolCallRequest), input);
}

/**
 * Calls `ask` after the previous call of `ask` has settled, because two prompts in one terminal would mix up their
 * answers. If the run is aborted first, `ask` is not called.
 */
function inTurn<T>(queues: WeakMap<object, Promise<unknown>>, run: RunContext, ask: () => T) {
  const root = rootOf(run);
  const { signal } = run;
  const asked = (queues.get(root) ?? Promise.resolve()).then(() => (signal.aborted ? undefined : ask()));
  queues.set(
    root,
    asked.catch(() => {}),
  );
  return asked;
}

/** Returns the outermost run, whose nested runs share one queue of questions. */
function rootOf(run: ToolRun): object {
  return run.parent === undefined ? run : rootOf(run.parent);
}

async function needOf<Context>(
  call: ToolCallRequest<Context>,
  { tools, when }: ApprovalOptions<Context>,
): Promise<boolean | string> {
  if (tools === undefined && when === undefined) return !isOwnReader(call.tool as Tool);
  const need = await when?.(call);
  if (typeof need === 'string') return need;
  if (need !== undefined && typeof need !== 'boolean') {
    throw new HookResultInvalidError('`when` must return a boolean or a string', need);
  }
  return need === true || tools?.includes(call.name) === true;
}

function isOwnReader({ annotations, origin }: Tool): boolean {
  return annotations?.readOnly === true && origin === undefined;
}

function reasonOf(answer: Exclude<ApprovalAnswer, 'approve' | EditedApproval>): string | undefined {
  if (answer === 'deny') return undefined;
  if (isObject(answer) && typeof answer.deny === 'string') return answer.deny;
  throw new HookResultInvalidError(
    "`ask` must return 'approve', 'deny', { deny: reason }, { approve: input } or undefined",
    answer,
  );
}

const rules = {
  tools: texts,
  when: callable,
  ask: callable,
  askInParallel: boolean,
  optional: boolean,
} satisfies OptionTable<ApprovalOptions>;
