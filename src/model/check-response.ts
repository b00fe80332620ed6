import type { AssistantPart } from './message.js';
import type { ModelResponse } from './model.js';
import { ResponseInvalidError } from './run-error.js';

/**
 * Throws {@link ResponseInvalidError} where a value is no response that the loop can go on with. Parts of unknown types
 * pass: they are kept in the message and skipped by every reader.
 */
export function checkResponse(value: ModelResponse): ModelResponse {
  if (typeof value !== 'object' || value === null)
    throw invalid(`it is ${value === null ? 'null' : typeof value}`, value);
  const { content } = value;
  if (!Array.isArray(content)) throw invalid('`content` is no array', value);
  for (const part of content as readonly AssistantPart[]) {
    if (typeof part !== 'object' || part === null) throw invalid('a part of `content` is no object', value);
    if (part.type === 'text') {
      if (typeof part.text !== 'string') throw invalid('a text part has no text', value);
    } else if (part.type === 'tool-call') {
      if (typeof part.id !== 'string' || part.id === '') throw invalid('a tool call has no id', value);
      if (typeof part.name !== 'string' || part.name === '') throw invalid('a tool call has no name', value);
    } else if (typeof part.type !== 'string') {
      throw invalid('a part of `content` has no type', value);
    }
  }
  return value;
}

function invalid(problem: string, value: unknown): ResponseInvalidError {
  return new ResponseInvalidError(problem, value);
}
