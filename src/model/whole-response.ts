import type { AssistantPart } from './message.js';
import type { ModelResponse, Usage } from './model.js';
import { ResponseInvalidError } from './run-error.js';
import { addUsage, type UsageSum } from './usage.js';

/**
 * Checks a response. Throws {@link ResponseInvalidError} if the run cannot continue with it.
 *
 * A missing usage or finish reason is copied from `replaced`, the response that a hook has replaced. Without
 * `replaced`, the defaults are zero tokens and `other`.
 *
 * Parts of unknown types stay in the message, and readers skip them.
 */
export function wholeResponse(value: ModelResponse, replaced?: ModelResponse): ModelResponse {
  const content = value?.content as readonly AssistantPart[] | undefined;
  if (!Array.isArray(content)) throw new ResponseInvalidError(problemOf(value), value);
  for (const part of content) {
    const problem = problemOfPart(part);
    if (problem !== undefined) throw new ResponseInvalidError(problem, value);
  }
  if (isUsage(value.usage) && typeof value.finishReason === 'string') return value;
  const usage = value.usage === undefined && replaced !== undefined ? replaced.usage : wholeUsage(value.usage);
  return { ...value, usage, finishReason: value.finishReason ?? replaced?.finishReason ?? 'other' };
}

/** True for a response with nothing but reasoning and white space, unless it was cut off or refused. */
export function isEmpty({ content, finishReason }: ModelResponse): boolean {
  return content.every(isSilent) && finishReason !== 'length' && finishReason !== 'content-filter';
}

function isSilent(part: AssistantPart): boolean {
  return part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === '');
}

function isUsage(usage: Usage | undefined): boolean {
  return (
    typeof usage?.inputTokens === 'number' &&
    typeof usage.outputTokens === 'number' &&
    typeof usage.totalTokens === 'number'
  );
}

function wholeUsage(usage: Usage | undefined): Usage {
  const sum: UsageSum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  addUsage(sum, usage);
  return { ...usage, ...sum };
}

function problemOf(value: unknown): string {
  if (value === null) return 'it is null';
  return typeof value === 'object' ? '`content` must be an array' : `it is ${typeof value}`;
}

/** Returns the reason why a part of an assistant message is invalid, or undefined if it is valid. */
export function problemOfPart(part: AssistantPart | undefined): string | undefined {
  if (typeof part !== 'object' || part === null) return 'a part of `content` must be an object';
  if (part.type === 'text') return typeof part.text === 'string' ? undefined : 'a text part has no text';
  if (part.type === 'tool-call') return problemOfCall(part);
  return typeof part.type === 'string' ? undefined : 'a part of `content` has no type';
}

function problemOfCall(call: { readonly id: unknown; readonly name: unknown }): string | undefined {
  if (typeof call.id !== 'string' || call.id === '') return 'a tool call has no id';
  return typeof call.name !== 'string' || call.name === '' ? 'a tool call has no name' : undefined;
}
