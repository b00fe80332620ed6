import { randomIds } from '../../internal/ids.js';
import type { ToolCallPart } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { defined, isObject, parseJson, textOr, type WireObject } from './wire.js';

/** The token counts of an answer, as they came. */
export interface WireCounts {
  readonly input: unknown;
  readonly output: unknown;
  /** Default: the sum of both. */
  readonly total?: unknown;
  readonly cached: unknown;
  readonly reasoning: unknown;
}

/** A usage made of counts that may be missing, or of the wrong type. */
export function toUsage({ input, output, total, cached, reasoning }: WireCounts): Usage {
  const inputTokens = count(input) ?? 0;
  const outputTokens = count(output) ?? 0;
  return {
    inputTokens,
    outputTokens,
    totalTokens: count(total) ?? inputTokens + outputTokens,
    ...defined({ cachedInputTokens: count(cached), reasoningTokens: count(reasoning) }),
  };
}

/** A number of tokens, if it is one. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
}

/** The id of a call in an answer; a new one if it has none, or that of another call in `taken`. */
export function uniqueId(given: unknown, taken: Set<string>): string {
  const id = textOr(given);
  const unique = id !== '' && !taken.has(id) ? id : randomIds.next('call');
  taken.add(unique);
  return unique;
}

/**
 * The arguments of a call. They come as JSON; some servers send the object itself, or JSON inside of a JSON string. An
 * empty string means no arguments.
 */
export function readArguments(given: unknown): Pick<ToolCallPart, 'input' | 'invalidInput'> {
  if (typeof given !== 'string') return { input: given ?? {} };
  if (given.trim() === '') return { input: {} };
  const input = parseJson(given);
  const inner = parseJson(textOr(input));
  if (isObject(inner)) return { input: inner };
  return input === undefined ? { input: {}, invalidInput: given } : { input: input ?? {} };
}

/** The arguments of a call as they go back. Servers refuse anything but an object, so anything else is wrapped in one. */
export function toArguments({ input, invalidInput }: ToolCallPart): WireObject {
  const given = input ?? {};
  if (invalidInput === undefined && isObject(given)) return given;
  return { invalid_json: invalidInput ?? JSON.stringify(given) ?? '' };
}
