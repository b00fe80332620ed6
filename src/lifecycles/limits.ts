import { HookResultInvalidError, OptionInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { callable, mapOf, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { HookAction } from '../lifecycle/hook-action.js';
import type { AgentLifecycle, ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import type { RejectAction, RespondAction } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import { guardedNames } from './guarded-names.js';

/** What a run may use up. Give at least one limit; all of them count for one run, and a resumed run is a new one. */
export interface LimitsOptions {
  /** Model calls, with the repeated ones; `maxTurns` of an agent counts turns. */
  readonly modelCalls?: number | undefined;
  /** Tool calls, counted as the model asks for them, whatever becomes of them. 0 permits none. */
  readonly toolCalls?: number | undefined;
  /** Tokens, by `run.usage.totalTokens`. Known only after a call: the last one may go beyond. */
  readonly tokens?: number | undefined;
  /**
   * Calls of single tools, by name. One too many gets an error result, and the run goes on. A
   * name that matches no tool is logged as a warning at the first model call.
   */
  readonly perTool?: Readonly<Record<string, number>> | undefined;
  /** How the run ends where `modelCalls`, `toolCalls` or `tokens` is used up. Default: a reject that says which. */
  readonly onLimit?: ((limit: LimitReached) => RejectAction | RespondAction) | undefined;
}

/** The limit that a run has come to. */
export interface LimitReached {
  readonly limit: 'modelCalls' | 'toolCalls' | 'tokens';
  /** What the option says. */
  readonly max: number;
  /** What the run has used. Of tool calls, with those that were refused. */
  readonly used: number;
}

interface Used {
  modelCalls: number;
  toolCalls: number;
  readonly perTool: Map<string, number>;
}

const NAMES = { modelCalls: 'model calls', toolCalls: 'tool calls', tokens: 'tokens' };
const NO_RESPONSE: ModelResponse = {
  content: [],
  finishReason: 'other',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

/**
 * Makes a lifecycle that ends a run which has used up its budget: at its next model call, with a RejectedError whose
 * `by` is `limits`, or as `onLimit` says. An answer that is there by then stands. A tool call beyond the budget is not
 * run and gets an error result; those that are running finish.
 *
 * Priority 20: inside of retries, so that each attempt counts; outside of approval, so that nobody is asked about a call
 * that may not be made; before compaction, so that no summary is written for a run that ends.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [limits({ modelCalls: 20, perTool: { search: 5 } })] });
 */
export function limits(options: LimitsOptions): AgentLifecycle {
  const { onLimit = rejectAt, perTool, ...max } = resolveLimits(options);
  const guarded = perTool && guardedNames('limits({ perTool })', Object.keys(perTool));
  const runs = new WeakMap<RunContext, Used>();
  const usedBy = (run: RunContext): Used => {
    const used = runs.get(run) ?? { modelCalls: 0, toolCalls: 0, perTool: new Map() };
    runs.set(run, used);
    return used;
  };
  const endOf = (run: RunContext): RejectAction | RespondAction | undefined => {
    const reached = reachedBy(run, usedBy(run), max);
    if (reached === undefined) return undefined;
    const action: unknown = onLimit(reached);
    if (isObject(action) && (action.type === 'reject' || action.type === 'respond')) return action as never;
    // Nothing, or an action that lets the run go on, would be no limit.
    throw new HookResultInvalidError('`onLimit` gives HookAction.reject() or HookAction.respond()', action);
  };
  return {
    name: 'limits',
    priority: 20,
    onFailure: 'block',
    ...(guarded && { onInit: guarded.onInit }),
    beforeModel(_messages, run) {
      guarded?.check(run);
      return endOf(run);
    },
    wrapModelCall(request, next) {
      const end = endOf(request.run);
      usedBy(request.run).modelCalls += 1;
      if (end === undefined) return next(request);
      request.run.end({ by: 'limits', ...end });
      return NO_RESPONSE;
    },
    wrapToolCall(call, next) {
      const refusal = refusalOf(call, usedBy(call.run), { toolCalls: max.toolCalls, perTool });
      return refusal === undefined ? next(call) : errorResult(`The call was not run: ${refusal} is used up.`);
    },
  };
}

function reachedBy(run: RunContext, used: Used, max: LimitsOptions): LimitReached | undefined {
  const { modelCalls, toolCalls, tokens } = max;
  if (modelCalls !== undefined && used.modelCalls >= modelCalls) {
    return { limit: 'modelCalls', max: modelCalls, used: used.modelCalls };
  }
  // What was called is answered: only a call too many ends the run.
  if (toolCalls !== undefined && used.toolCalls > toolCalls) {
    return { limit: 'toolCalls', max: toolCalls, used: used.toolCalls };
  }
  if (tokens === undefined) return undefined;
  const { totalTokens } = run.usage;
  return totalTokens >= tokens ? { limit: 'tokens', max: tokens, used: totalTokens } : undefined;
}

/** Counts a call; the limit that it is beyond, if any. */
function refusalOf({ name }: ToolCallRequest, used: Used, max: Pick<LimitsOptions, 'toolCalls' | 'perTool'>) {
  const { toolCalls = Infinity, perTool = {} } = max;
  const ofTool = Object.hasOwn(perTool, name) ? (perTool[name] as number) : Infinity;
  const count = (used.perTool.get(name) ?? 0) + 1;
  used.toolCalls += 1;
  used.perTool.set(name, count);
  if (used.toolCalls > toolCalls) return `the run's limit of ${toolCalls} tool calls`;
  return count > ofTool ? `the run's limit of ${ofTool} calls of "${name}"` : undefined;
}

function rejectAt({ limit, max, used }: LimitReached): RejectAction {
  return HookAction.reject(`The limit of ${max} ${NAMES[limit]} is used up (${used}).`);
}

const rules = {
  modelCalls: whole(1),
  toolCalls: whole(0),
  tokens: whole(1),
  perTool: mapOf(whole(0)),
  onLimit: callable,
} satisfies OptionTable<LimitsOptions>;

function resolveLimits(options: LimitsOptions): LimitsOptions {
  validateOptions(options, rules);
  const { modelCalls, toolCalls, tokens, perTool } = options;
  if ([modelCalls, toolCalls, tokens, perTool].every((limit) => limit === undefined)) {
    throw new OptionInvalidError(
      'options',
      '`options` must have at least one of modelCalls, toolCalls, tokens, perTool',
    );
  }
  return { ...options, ...(perTool && { perTool: { ...perTool } }) };
}
