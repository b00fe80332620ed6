import type { AssistantPart } from './message.js';
import type { ModelResponse } from './model.js';
import { ResponseInvalidError } from './run-error.js';

/**
 * Throws {@link ResponseInvalidError} where a value is no response that the loop can go on with. Parts of unknown types
 * pass: they are kept in the message and skipped by every reader.
 */
export function checkResponse(value: ModelResponse): ModelResponse {
  const content = value?.content as readonly AssistantPart[] | undefined;
  if (!Array.isArray(content)) throw new ResponseInvalidError(problemOf(value), value);
  // By index: on this path an iterator would cost as much as the check.
  for (let i = 0; i < content.length; i++) {
    const problem = problemOfPart(content[i]);
    if (problem !== undefined) throw new ResponseInvalidError(problem, value);
  }
  return value;
}

function problemOf(value: unknown): string {
  if (value === null) return 'it is null';
  return typeof value === 'object' ? '`content` is no array' : `it is ${typeof value}`;
}

/** What is wrong with a part of an assistant message. */
export function problemOfPart(part: AssistantPart | undefined): string | undefined {
  if (typeof part !== 'object' || part === null) return 'a part of `content` is no object';
  if (part.type === 'text') return typeof part.text === 'string' ? undefined : 'a text part has no text';
  if (part.type === 'tool-call') return problemOfCall(part);
  return typeof part.type === 'string' ? undefined : 'a part of `content` has no type';
}

function problemOfCall({ id, name }: { readonly id: unknown; readonly name: unknown }): string | undefined {
  if (typeof id !== 'string' || id === '') return 'a tool call has no id';
  return typeof name !== 'string' || name === '' ? 'a tool call has no name' : undefined;
}
