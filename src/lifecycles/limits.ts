import { HookResultInvalidError, OptionInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { counted } from '../internal/names-text.js';
import { boolean, callable, mapOf, numberRule, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { HookAction } from '../lifecycle/hook-action.js';
import { type Budget, hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ModelCallNext, ModelCallRequest, ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import { costOf, findPrice, type ModelPrice, missingPrice, priceOf, priceRule } from '../model/price.js';
import type { RejectAction, RespondAction } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import { checkToolNames } from './tool-name-check.js';

/**
 * Limits of one run together with its nested runs, such as runs of agents used as tools. Set at least one limit. A
 * resumed run counts as a new run, with the full limits.
 */
export interface LimitsOptions {
  /** The maximum number of model calls, including retries. (`maxTurns` of an agent counts turns.) */
  readonly modelCalls?: number | undefined;
  /** The maximum number of tool calls that the models may request, including refused calls. 0 allows no call. */
  readonly toolCalls?: number | undefined;
  /**
   * The maximum of `run.usage.totalTokens`. The last model call may exceed it, because usage is known only afterwards.
   */
  readonly tokens?: number | undefined;
  /**
   * The maximum cost in US dollars, by `prices`. The last model call may exceed it, because its cost is known only
   * afterwards. Includes the summaries of `compaction`.
   */
  readonly usd?: number | undefined;
  /** The prices of each model that may be called, by model id. A call of a model without a price ends the run. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /**
   * The maximum number of calls of each tool, by tool name. Calls in nested runs do not count. A further call gets an
   * error result, and the run continues.
   *
   * A name that matches no tool ends the run with an OptionInvalidError, unless `optional` is set.
   */
  readonly perTool?: Readonly<Record<string, number>> | undefined;
  /**
   * Accepts names in `perTool` that match no tool. Set it if several agents share the limits and not all of them have
   * these tools. Default: false.
   */
  readonly optional?: boolean | undefined;
  /**
   * Returns the action that ends the run at the limit of `modelCalls`, `toolCalls`, `tokens` or `usd`. Default: rejects
   * the run.
   */
  readonly onLimit?: ((limit: LimitReached) => RejectAction | RespondAction) | undefined;
}

/** The limit that a run has reached. */
export interface LimitReached {
  readonly limit: 'modelCalls' | 'toolCalls' | 'tokens' | 'usd';
  /** The value of the reached option. */
  readonly max: number;
  /** The amount that the run has used. For tool calls, includes refused calls. */
  readonly used: number;
}

interface Used {
  modelCalls: number;
  toolCalls: number;
  usd: number;
  readonly perTool: Map<string, number>;
}

const NAMES = { modelCalls: 'model call', toolCalls: 'tool call', tokens: 'token', usd: 'US dollar' };
const NO_RESPONSE: ModelResponse = {
  content: [],
  finishReason: 'other',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

/**
 * Makes a lifecycle that ends a run at its next model call after a limit is reached. The run ends with a RejectedError
 * with `by: 'limits'`, or with the action of `onLimit`.
 *
 * An answer that the run already has stays valid. A tool call beyond a limit does not run and gets an error result.
 * Running tool calls finish.
 *
 * Priority 20: inside retries, so that each attempt counts; outside approval, so that nobody is asked about a refused
 * call. It runs before compaction, so that no summary is written for a run that ends.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [limits({ modelCalls: 20, perTool: { search: 5 } })] });
 */
export function limits(options: LimitsOptions): AgentLifecycle {
  const { onLimit = rejectAt, perTool, optional, prices, ...max } = resolveLimits(options);
  const names = perTool && !optional ? checkToolNames('limits({ perTool })', Object.keys(perTool), true) : undefined;
  const endOf = (run: RunContext): RejectAction | RespondAction | undefined => {
    const reached = reachedBy(run, usedBy(run), max);
    if (reached === undefined) return undefined;
    const action: unknown = onLimit(reached);
    if (isObject(action) && (action.type === 'reject' || action.type === 'respond')) return action as never;
    // `onLimit` must end the run: continuing would exceed the limit.
    throw new HookResultInvalidError('`onLimit` must return HookAction.reject() or HookAction.respond()', action);
  };
  const pay = async (request: ModelCallRequest, next: ModelCallNext) => {
    const price = priceOf(prices ?? {}, request.model.id);
    const response = await next(request);
    usedBy(request.run).usd += costOf(response.usage, price);
    return response;
  };
  const wrapModelCall: AgentLifecycle['wrapModelCall'] = (request, next) => {
    const end = endOf(request.run);
    usedBy(request.run).modelCalls += 1;
    if (end === undefined) return prices === undefined ? next(request) : pay(request, next);
    request.run.end({ by: 'limits', ...end });
    return NO_RESPONSE;
  };
  const usedBy = createCounters({ ...max, prices }, wrapModelCall);
  return {
    name: 'limits',
    priority: 20,
    onFailure: 'block',
    onInit: names?.onInit,
    beforeModel(_messages, run) {
      names?.check(run);
      return endOf(run);
    },
    wrapModelCall,
    wrapToolCall(call, next) {
      const refusal = refusalOf(call, usedBy(call.run), { toolCalls: max.toolCalls, perTool });
      return refusal === undefined ? next(call) : errorResult(`The call was not run: ${refusal}.`);
    },
  };
}

/**
 * Returns a function that returns the counters of a run. At its first call for a run, it also adds a budget to the run,
 * so that nested runs and the agents after a handover are counted too.
 */
function createCounters(max: LimitsOptions, counter: AgentLifecycle['wrapModelCall']): (run: RunContext) => Used {
  const runs = new WeakMap<RunContext, Used>();
  return (run) => {
    const known = runs.get(run);
    if (known !== undefined) return known;
    const used: Used = { modelCalls: 0, toolCalls: 0, usd: 0, perTool: new Map() };
    runs.set(run, used);
    const hookRun = hookRunOf(run);
    if (hookRun !== undefined) hookRun.budgets = [...(hookRun.budgets ?? []), { ...budgetOf(run, used, max), counter }];
    return used;
  };
}

/** Returns the budget for nested runs. A refusal names the agent whose limit is reached. */
function budgetOf(run: RunContext, used: Used, max: LimitsOptions): Budget {
  const { prices, toolCalls = Infinity } = max;
  const whose = `The run of agent "${run.agent}"`;
  return {
    by: 'limits',
    admit({ model }) {
      const reached = reachedBy(run, used, max);
      if (reached !== undefined) return reasonFor(reached, whose);
      const price = prices && findPrice(prices, model);
      if (prices !== undefined && price === undefined) return missingPrice(model);
      used.modelCalls += 1;
      return (usage) => {
        if (price !== undefined) used.usd += costOf(usage, price);
      };
    },
    admitTool() {
      used.toolCalls += 1;
      if (used.toolCalls <= toolCalls) return undefined;
      return reasonFor({ limit: 'toolCalls', max: toolCalls, used: used.toolCalls }, whose);
    },
  };
}

function reachedBy(run: RunContext, used: Used, max: LimitsOptions): LimitReached | undefined {
  const { modelCalls, toolCalls, tokens, usd } = max;
  if (modelCalls !== undefined && used.modelCalls >= modelCalls) {
    return { limit: 'modelCalls', max: modelCalls, used: used.modelCalls };
  }
  // The model still answers the calls within the limit; only a further call ends the run.
  if (toolCalls !== undefined && used.toolCalls > toolCalls) {
    return { limit: 'toolCalls', max: toolCalls, used: used.toolCalls };
  }
  if (usd !== undefined && used.usd >= usd) return { limit: 'usd', max: usd, used: used.usd };
  if (tokens === undefined) return undefined;
  const { totalTokens } = run.usage;
  return totalTokens >= tokens ? { limit: 'tokens', max: tokens, used: totalTokens } : undefined;
}

/** Counts a call. Returns a description of the limit that the call exceeds. Returns undefined within the limits. */
function refusalOf({ name }: ToolCallRequest, used: Used, max: Pick<LimitsOptions, 'toolCalls' | 'perTool'>) {
  const { toolCalls = Infinity, perTool = {} } = max;
  const ofTool = Object.hasOwn(perTool, name) ? (perTool[name] as number) : Infinity;
  const count = (used.perTool.get(name) ?? 0) + 1;
  used.toolCalls += 1;
  used.perTool.set(name, count);
  if (used.toolCalls > toolCalls) return `the run reached its limit of ${counted(toolCalls, 'tool call')}`;
  return count > ofTool ? `tool "${name}" reached its limit of ${counted(ofTool, 'call')} per run` : undefined;
}

function rejectAt(reached: LimitReached): RejectAction {
  return HookAction.reject(reasonFor(reached));
}

function reasonFor({ limit, max, used }: LimitReached, whose = 'The run'): string {
  return `${whose} reached its limit of ${counted(max, NAMES[limit])} (${used} used).`;
}

const rules = {
  modelCalls: whole(1),
  toolCalls: whole(0),
  tokens: whole(1),
  usd: numberRule('a number of US dollars of more than 0', Number.MIN_VALUE),
  prices: mapOf(priceRule),
  perTool: mapOf(whole(0)),
  optional: boolean,
  onLimit: callable,
} satisfies OptionTable<LimitsOptions>;

function resolveLimits(options: LimitsOptions): LimitsOptions {
  validateOptions(options, rules);
  const { modelCalls, toolCalls, tokens, usd, prices, perTool } = options;
  if ((usd === undefined) !== (prices === undefined)) {
    const [given, missing] = usd === undefined ? ['prices', 'usd'] : ['usd', 'prices'];
    throw new OptionInvalidError(missing, `\`${missing}\` must be set with \`${given}\`, got \`${given}\` alone`);
  }
  if ([modelCalls, toolCalls, tokens, usd, perTool].every((limit) => limit === undefined)) {
    throw new OptionInvalidError(
      'options',
      '`options` must have at least one of modelCalls, toolCalls, tokens, usd, perTool, got none of them',
    );
  }
  return { ...options, perTool: perTool && { ...perTool } };
}
