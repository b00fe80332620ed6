import type { RunContext } from '../../lifecycle/run-context.js';
import { type AssistantPart, type Message, textOf, toolCallsOf } from '../../model/message.js';
import type { ModelResponse, Usage } from '../../model/model.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects, ToolChoiceLimit } from '../hook/effects.js';
import type { EventFields } from '../hook/event-context.js';

/** Returns the messages of the model request, with the instructions first. */
export function sentMessages(run: RunContext, messages: readonly Message[]): readonly Message[] {
  return run.instructions === undefined ? messages : [{ role: 'system', content: run.instructions }, ...messages];
}

export function afterModelFields(run: RunContext, response: ModelResponse): EventFields {
  const conversation = () => ({ messages: sentMessages(run, run.messages), model: run.model.id, response });
  return { data: { response: shownResponse(response), tokens: tokensOf(response.usage) }, conversation };
}

/** Returns a model response in the format that hooks read. */
export function shownResponse({ content, finishReason }: ModelResponse): object {
  const message: Message = { role: 'assistant', content };
  return {
    text: textOf(message),
    content,
    tool_calls: toolCallsOf(message).map(({ id, name, input }) => ({ id, name, args: input ?? null })),
    finish_reason: finishReason,
  };
}

function tokensOf(usage: Usage): object {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    total: usage.totalTokens,
    cached_input: usage.cachedInputTokens,
    reasoning: usage.reasoningTokens,
  };
}

/** Returns the messages of a request after the changes of a hook. Changes that make the request invalid are ignored. */
export function rewriteMessages(sent: readonly Message[], { request }: HookEffects): readonly Message[] {
  try {
    return request?.change(sent) ?? sent;
  } catch {
    return sent;
  }
}

/**
 * Returns a response after the changes of a hook. The finish reason changes if the hook adds the first tool call or
 * removes the last one.
 */
export function rewriteResponse(value: ModelResponse, { response }: HookEffects): ModelResponse {
  const content = response?.(value.content) ?? value.content;
  if (content === value.content) return value;
  const isEnd = isFinal({ content });
  if (isEnd === isFinal(value)) return { ...value, content };
  return { ...value, content, finishReason: isEnd ? 'stop' : 'tool-calls' };
}

/** Returns the model response for parts that a hook provides in place of the model. */
export function answerOf(content: readonly AssistantPart[]): ModelResponse {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { content, finishReason: isFinal({ content }) ? 'stop' : 'tool-calls', usage };
}

/** Returns true if a response has no tool call, so that the run ends with it. */
export function isFinal({ content }: Pick<ModelResponse, 'content'>): boolean {
  return toolCallsOf({ role: 'assistant', content }).length === 0;
}

/**
 * Returns the tools that the limits allow. Mode `none` removes all tools; otherwise the names of all limits are
 * combined.
 */
export function limitTools<Named extends { readonly name: string }>(
  tools: readonly Named[],
  limits: readonly ToolChoiceLimit[],
  namesOf = (name: string): readonly string[] => [name],
): readonly Named[] {
  if (limits.some(({ mode }) => mode === 'none')) return [];
  const named = limits.filter(({ names }) => names !== undefined);
  if (named.length === 0) return tools;
  const allowed = new Set(named.flatMap(({ names = [] }) => names));
  return tools.filter(({ name }) => namesOf(name).some((known) => allowed.has(known)));
}

/** Returns the names of a tool in the dialect and the extension package of a hook. */
export type NamesOf = (name: string, hook: Pick<ShellHook, 'dialect' | 'extension'>) => readonly string[];

/** Returns the tools after all hooks of the event have run. Applies all limits whose `joins` is true as one limit. */
export function joinLimits<Named extends { readonly name: string }>(
  tools: readonly Named[],
  limits: readonly ToolChoiceLimit[],
  namesOf: NamesOf,
): readonly Named[] {
  const joined = limits.filter(({ joins }) => joins);
  const hooks = joined.map(({ dialect = 'native', extension }) => ({ dialect, extension }));
  return limitTools(tools, joined, (name) => hooks.flatMap((hook) => namesOf(name, hook)));
}
