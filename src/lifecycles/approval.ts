import { HookResultInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { boolean, callable, texts } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { HookAction } from '../lifecycle/hook-action.js';
import type { AgentLifecycle, ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { Tool, ToolRun } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import { guardedNames } from './guarded-names.js';

/** Which calls need a yes, and who gives it. */
export interface ApprovalOptions<Context = unknown> {
  /**
   * The names of the tools whose calls need approval. Where neither this nor `when` is given: all but those of the
   * application's own tools that are annotated as `readOnly`. The annotation of a tool with an `origin`, such as an MCP
   * server's, is a stranger's word, and does not count.
   */
  readonly tools?: readonly string[] | undefined;
  /** Whether a call needs approval; a text is the reason to show. Beside `tools`, either suffices. */
  readonly when?: ((call: ToolCallRequest<Context>) => Awaitable<boolean | string>) | undefined;
  /**
   * Decides at once, with the arguments that the tool will get. `undefined` leaves the call open; without `ask` every call
   * is left open. Called for one call after another within a run and the agents that it uses as tools. Any string
   * compiles, because an `async` function without parameters loses its literal types; the call is not run unless the
   * answer is 'approve'.
   */
  readonly ask?:
    | ((
        call: ToolCallRequest<Context>,
        reason: string,
      ) => Awaitable<ApprovalAnswer | (string & Record<never, never>) | undefined>)
    | undefined;
  /** Calls `ask` for all calls of a turn at once, such as for cards on a page. Default: false. */
  readonly askInParallel?: boolean | undefined;
}

/** What `ask` decides: the same words as in `resume`. */
export type ApprovalAnswer = 'approve' | 'deny' | { readonly deny: string };

/**
 * Makes a lifecycle that lets calls through only with somebody's yes. `ask` gives it at once; without an answer the call
 * is suspended: the run ends with status `suspended` and goes on with `resume`, in this process or another, where an
 * approved call is not asked about again. A denied one gets an error result. The messages hold the whole state. A call
 * of an unknown tool passes, since nothing runs.
 *
 * If `when` or `ask` throws, the tool does not run and the call gets an error result. A name in `tools` that matches no tool is
 * logged as a warning at the first model call.
 *
 * Priority 5: innermost, so that it judges the final arguments, and nobody is asked about what a gate forbids anyway.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [approval({ tools: ['pay', 'erase'] })] });
 */
export function approval<Context = unknown>(options: ApprovalOptions<Context> = {}): AgentLifecycle<Context> {
  validateOptions(options, rules);
  const { when, ask, askInParallel } = options;
  const tools = options.tools && [...options.tools];
  const queues = new WeakMap<object, Promise<unknown>>();
  const guarded = tools && guardedNames('approval({ tools })', tools);
  return {
    name: 'approval',
    priority: 5,
    onFailure: 'block',
    ...(guarded && { onInit: guarded.onInit, beforeModel: (_messages, run) => guarded.check(run) }),
    async wrapToolCall(call, next) {
      if (call.approved || call.tool === undefined) return next(call);
      const need = await needOf(call, { tools, when });
      if (need === false) return next(call);
      const reason = typeof need === 'string' ? need : `"${call.name}" needs approval.`;
      const question = () => ask?.(call, reason);
      const asking = askInParallel ? question() : inTurn(queues, call.run as RunContext, question);
      const answer = (await asking) as ApprovalAnswer | undefined;
      if (answer === undefined) return HookAction.suspend(reason);
      if (answer === 'approve') return next(call);
      return errorResult(`The call was denied${reasonOf(answer)}`);
    },
  };
}

/** Asks one question at a time: two prompts on one terminal lose an answer. Asks nothing once the run is aborted. */
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

/** The outermost run: an agent that is a tool of another one has a run of its own. */
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
    throw new HookResultInvalidError('`when` gives a boolean or a reason', need);
  }
  return need === true || tools?.includes(call.name) === true;
}

function isOwnReader({ annotations, origin }: Tool): boolean {
  return annotations?.readOnly === true && origin === undefined;
}

function reasonOf(answer: Exclude<ApprovalAnswer, 'approve'>): string {
  if (answer === 'deny') return '.';
  if (isObject(answer) && typeof answer.deny === 'string') return `: ${answer.deny}`;
  throw new HookResultInvalidError("`ask` gives 'approve', 'deny', { deny: reason } or nothing", answer);
}

const rules = {
  tools: texts,
  when: callable,
  ask: callable,
  askInParallel: boolean,
} satisfies OptionTable<ApprovalOptions>;
