import { isObject } from '../../internal/json.js';
import { type AssistantPart, type Message, toolCallsOf } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import type { HookEffects, ToolChoiceLimit } from '../hook/effects.js';

/** The arguments of a call as a hook rewrote them. */
export function rewriteInput(input: unknown, { input: whole, inputChanges }: HookEffects): unknown {
  if (whole !== undefined) return whole;
  if (inputChanges === undefined) return input;
  return { ...(isObject(input) && input), ...inputChanges };
}

/** The result of a call as a hook rewrote it. A failed result stays failed. */
export function rewriteResult(value: ToolResult, { result }: HookEffects): ToolResult {
  if (result === undefined) return value;
  return value.isError ? { ...result, isError: true } : result;
}

/** The messages of a request as a hook rewrote them. A change that cannot be sent is left out. */
export function rewriteMessages(sent: readonly Message[], { request }: HookEffects): readonly Message[] {
  try {
    return request?.change(sent) ?? sent;
  } catch {
    return sent;
  }
}

/** The response as a hook rewrote it. The finish reason changes if hooks added the first tool call or removed the last. */
export function rewriteResponse(value: ModelResponse, { response }: HookEffects): ModelResponse {
  const content = response?.(value.content) ?? value.content;
  if (content === value.content) return value;
  const isEnd = isFinal({ content });
  if (isEnd === isFinal(value)) return { ...value, content };
  return { ...value, content, finishReason: isEnd ? 'stop' : 'tool-calls' };
}

/** A response that a hook gave in place of the model. */
export function answerOf(content: readonly AssistantPart[]): ModelResponse {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { content, finishReason: isFinal({ content }) ? 'stop' : 'tool-calls', usage };
}

/** True if a response calls no tool, so that the run ends with it. */
export function isFinal({ content }: Pick<ModelResponse, 'content'>): boolean {
  return toolCallsOf({ role: 'assistant', content }).length === 0;
}

/** The tools that limits leave. `none` wins; else the names of several limits are added together. */
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

/** The names of a tool for a dialect. */
export type NamesOf = (name: string, dialect: NonNullable<ToolChoiceLimit['dialect']>) => readonly string[];

/** The tools that are left once all hooks of the event have answered: limits that join hold together. */
export function joinLimits<Named extends { readonly name: string }>(
  tools: readonly Named[],
  limits: readonly ToolChoiceLimit[],
  namesOf: NamesOf,
): readonly Named[] {
  const joined = limits.filter(({ joins }) => joins);
  const dialects = new Set(joined.map(({ dialect = 'native' }) => dialect));
  return limitTools(tools, joined, (name) => [...dialects].flatMap((dialect) => namesOf(name, dialect)));
}
