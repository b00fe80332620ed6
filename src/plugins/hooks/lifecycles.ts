import { isDeepStrictEqual } from 'node:util';
import type { AgentLifecycle, ToolCallRequest, ToolInvoke } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { FinishReason } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import { askBefore, askMessage, callInTime, hasMessage, type PluginCalling, type ToolVerdict } from './call.js';
import type { PluginCall, PluginPart } from './part.js';
import { passAfter } from './pipeline.js';
import { resultText } from './tool.js';

/** How the plugins of one agent are called. */
export interface PluginGroup {
  readonly timeoutMs: number;
  /** Tools that take the place of one of the same name. */
  readonly replaced: ReadonlySet<string>;
}

/**
 * Plugins as lifecycles, one each, in their order. The result of a call has to pass them in that order too, where wraps
 * would unwind from the last to the first: so the innermost shows it to all of them.
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
    // Whatever a plugin throws where it only looks on, or rewrites a message, is logged and passed over.
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
        const response = { content, stopReason: stops.get(run) ?? 'stop' };
        // What it returns is no answer: a plugin is only told.
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

async function passCall({ part, shownTo, calling }: Passing, call: ToolCallRequest, next: ToolInvoke) {
  let passed = call;
  if (part.beforeTool !== undefined) {
    const verdict = await askBefore(part, pluginCallOf(call), calling);
    if (verdict.blocked !== undefined) return errorResult(verdict.blocked);
    passed = withVerdict(call, verdict);
  }
  const result = await next(passed);
  if (shownTo.length === 0) return result;
  const shown = { content: resultText(result), ...(result.isError === true && { isError: true }) };
  const outcome = await passAfter(shownTo, { call: pluginCallOf(passed), result: shown }, calling);
  return outcome.isWithheld ? errorResult(outcome.result.content) : withAnswer(result, outcome.result);
}

function pluginCallOf({ id, name, input, run }: ToolCallRequest): PluginCall {
  return { name, input: recordOf(input), callId: id, sessionId: run.session?.id ?? run.id };
}

/** Plugins expect properties: of arguments that are no JSON they see none. */
function recordOf(input: unknown): Record<string, unknown> {
  return (input ?? {}) as Record<string, unknown>;
}

/** The call as a plugin wants it: the very same where it changed nothing. */
function withVerdict(call: ToolCallRequest, verdict: ToolVerdict & { readonly blocked?: undefined }): ToolCallRequest {
  const { name, input } = verdict;
  if (name === call.name && isSame(input, recordOf(call.input))) return call;
  return { ...call, name, input };
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    return isDeepStrictEqual(a, b);
  } catch {
    // Nested too deeply to be compared.
    return false;
  }
}

/** The result as the plugins left it. The data beside a text that was changed would still say what was taken out. */
function withAnswer(result: ToolResult, answer: { content: string; isError?: boolean | undefined }): ToolResult {
  const isError = answer.isError === true;
  if (answer.content === resultText(result))
    return isError === (result.isError === true) ? result : { ...result, isError };
  const others = typeof result.content === 'string' ? [] : result.content.filter((part) => part.type !== 'text');
  const content = others.length === 0 ? answer.content : [{ type: 'text', text: answer.content } as const, ...others];
  return isError ? { content, isError } : { content };
}
