import type { AssistantPart } from './message.js';
import type { ModelResponse } from './model.js';
import { ResponseInvalidError } from './run-error.js';

/**
 * Throws {@link ResponseInvalidError} if a value is not a response that the run can continue with.
 * Parts of unknown types are accepted: they stay in the message, and readers skip them.
 */
export function checkResponse(value: ModelResponse): ModelResponse {
  const content = value?.content as readonly AssistantPart[] | undefined;
  if (!Array.isArray(content)) throw new ResponseInvalidError(problemOf(value), value);
  // By index: an iterator would cost as much as the check.
  for (let i = 0; i < content.length; i++) {
    const problem = problemOfPart(content[i]);
    if (problem !== undefined) throw new ResponseInvalidError(problem, value);
  }
  return value;
}

function problemOf(value: unknown): string {
  if (value === null) return 'it is null';
  return typeof value === 'object' ? '`content` must be an array' : `it is ${typeof value}`;
}

/** Returns the problem with a part of an assistant message, or undefined. */
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
