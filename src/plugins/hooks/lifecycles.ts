import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../internal/json.js';
import { hasFinalAnswer } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ToolCallNext, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { FinishReason } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import {
  askBefore,
  askMessage,
  callInTime,
  hasMessage,
  type PluginCalling,
  passAfter,
  type ToolVerdict,
} from './call.js';
import type { PluginCall, PluginPart } from './part.js';
import { resultText, shownResult } from './tool.js';

/** Settings for all plugins of one agent. */
export interface PluginGroup {
  readonly timeoutMs: number;
  /** Names of plugin tools that replace a tool of the agent. */
  readonly replaced: ReadonlySet<string>;
}

/**
 * Creates one lifecycle for each plugin, in the order of the plugins. Nested `wrapToolCall` hooks would give a tool
 * result to the last plugin first. So the innermost lifecycle alone passes the result to all plugins, from the first to
 * the last.
 */
export function pluginLifecycles(parts: readonly PluginPart[], group: PluginGroup): AgentLifecycle[] {
  const last = parts.findLast((part) => part.beforeTool !== undefined || part.afterTool !== undefined);
  return parts.map((part) => lifecycleOf(part, part === last ? parts : [], group));
}

function lifecycleOf(part: PluginPart, shownTo: readonly PluginPart[], group: PluginGroup): AgentLifecycle {
  const { beforeMessage, afterResponse, beforeTool, name, tools } = part;
  const { timeoutMs, replaced } = group;
  const stops = new WeakMap<RunContext, FinishReason>();
  const callingOf = ({ clock, logger, signal }: RunContext) => ({ timeoutMs, clock, logger, signal });
  const replacing = tools.filter((tool) => replaced.has(tool.name));
  return {
    name,
    // An error in a hook that only observes or changes a message is logged, and the run continues.
    onFailure: 'continue',
    tools: tools.filter((tool) => !replaced.has(tool.name)),
    beforeToolSelection:
      replacing.length === 0
        ? undefined
        : (offered) => offered.map((tool) => replacing.find((ours) => ours.name === tool.name) ?? tool),
    beforeAgent:
      beforeMessage &&
      ((input, run) => {
        if (!hasMessage(input, run)) return undefined;
        return callInTime(`beforeMessage of plugin "${name}"`, () => askMessage(part, input), callingOf(run));
      }),
    afterModel: afterResponse && ((response, run) => void stops.set(run, response.finishReason)),
    afterAgent:
      afterResponse &&
      (async (content, run) => {
        if (!hasFinalAnswer(run)) return;
        const response = { content, stopReason: stops.get(run) ?? 'stop' };
        // The return value is ignored: the hook can only observe the response.
        await callInTime(`afterResponse of plugin "${name}"`, () => afterResponse(response), callingOf(run));
      }),
    wrapToolCall:
      beforeTool || shownTo.length > 0
        ? (call, next) => passCall({ part, shownTo, calling: callingOf(call.run) }, call, next)
        : undefined,
    onShutdown: part.onShutdown,
    ...part.runHooks?.(timeoutMs),
  };
}

interface Passing {
  readonly part: PluginPart;
  readonly shownTo: readonly PluginPart[];
  readonly calling: PluginCalling;
}

async function passCall({ part, shownTo, calling }: Passing, call: ToolCallRequest, next: ToolCallNext) {
  let passed = call;
  if (part.beforeTool !== undefined) {
    const verdict = await askBefore(part, pluginCallOf(call), calling);
    if (verdict.blocked !== undefined) return errorResult(verdict.blocked);
    passed = withVerdict(call, verdict, part);
  }
  const result = await next(passed);
  if (shownTo.length === 0) return result;
  const outcome = await passAfter(shownTo, { call: pluginCallOf(passed), result: shownResult(result) }, calling);
  return outcome.isWithheld ? errorResult(outcome.result.content) : withAnswer(result, outcome.result);
}

function pluginCallOf({ id, name, input, run, tool }: ToolCallRequest): PluginCall {
  return { name, input: recordOf(input), callId: id, sessionId: run.session?.id ?? run.id, tool };
}

/** Plugins expect an object as input. Arguments that are invalid JSON become an empty object. */
function recordOf(input: unknown): Record<string, unknown> {
  return (input ?? {}) as Record<string, unknown>;
}

/** Returns the call as the plugin changed it, or the same object if nothing changed. */
function withVerdict(
  call: ToolCallRequest,
  { name, input }: ToolVerdict & { readonly blocked?: undefined },
  { keepsAdded = false }: PluginPart,
): ToolCallRequest {
  const before = recordOf(call.input);
  if (name === call.name && isSame(input, before)) return call;
  if (!keepsAdded || !isObject(input)) return { ...call, name, input };
  const added = Object.entries(input).filter(([key, value]) => !isSame(value, before[key]));
  if (added.length === 0) return { ...call, name, input };
  return { ...call, name, input, additions: { ...call.additions, ...Object.fromEntries(added) } };
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    return isDeepStrictEqual(a, b);
  } catch {
    // The input is nested too deeply to compare.
    return false;
  }
}

/**
 * Returns the tool result as the plugins changed it. If the text changed, structured data is dropped, because it could
 * still contain what a plugin removed.
 */
function withAnswer(result: ToolResult, answer: { content: string; isError?: boolean | undefined }): ToolResult {
  const isError = answer.isError === true;
  if (answer.content === resultText(result))
    return isError === (result.isError === true) ? result : { ...result, isError };
  const others = typeof result.content === 'string' ? [] : result.content.filter((part) => part.type !== 'text');
  const content = others.length === 0 ? answer.content : [{ type: 'text', text: answer.content } as const, ...others];
  return isError ? { content, isError } : { content };
}
