import { randomIds } from '../../internal/ids.js';
import type { ToolCallPart } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { defined, isObject, parseJson, textOr, type WireObject } from './wire.js';

/** The token counts of a response as the provider sent them, not yet checked. */
export interface WireCounts {
  readonly input: unknown;
  readonly output: unknown;
  /** The total number of tokens. Default: the sum of input and output. */
  readonly total?: unknown;
  readonly cached: unknown;
  readonly written?: unknown;
  readonly reasoning: unknown;
}

/**
 * Converts token counts of a provider. A missing or invalid count of input or output tokens becomes 0.
 *
 * Some servers, such as xAI and Google, do not count reasoning as output. If the total shows this, the reasoning tokens
 * are added to the output tokens.
 */
export function toUsage({ input, output, total, cached, written, reasoning }: WireCounts): Usage {
  const inputTokens = count(input) ?? 0;
  const counted = count(output) ?? 0;
  const thought = count(reasoning) ?? 0;
  const isApart = thought > counted || count(total) === inputTokens + counted + thought;
  const outputTokens = isApart ? counted + thought : counted;
  return {
    inputTokens,
    outputTokens,
    totalTokens: count(total) ?? inputTokens + outputTokens,
    ...defined({
      cachedInputTokens: count(cached),
      cacheWriteTokens: count(written),
      reasoningTokens: count(reasoning),
    }),
  };
}

/** Returns the value if it is a number, else undefined. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
}

/**
 * Returns the id of a tool call. Generates another id if the id is missing or in `used`. Adds the returned id to
 * `used`.
 */
export function uniqueId(given: unknown, used: Set<string>): string {
  const id = textOr(given);
  const unique = id !== '' && !used.has(id) ? id : randomIds.next('call');
  used.add(unique);
  return unique;
}

/**
 * Parses the arguments of a tool call. Accepts an object instead of a JSON string, and JSON inside a JSON string,
 * because some servers send these. An empty string means no arguments.
 */
export function readArguments(given: unknown): Pick<ToolCallPart, 'input' | 'invalidInput'> {
  if (typeof given !== 'string') return { input: given ?? {} };
  if (given.trim() === '') return { input: {} };
  const input = parseJson(given);
  const inner = parseJson(textOr(input));
  if (isObject(inner)) return { input: inner };
  return input === undefined ? { input: {}, invalidInput: given } : { input: input ?? {} };
}

/**
 * Returns the arguments of an earlier tool call for a request. Servers accept only an object, so any other value is put
 * into an object.
 */
export function toArguments({ input, invalidInput }: ToolCallPart): WireObject {
  const given = input ?? {};
  if (invalidInput === undefined && isObject(given)) return given;
  return { invalid_json: invalidInput ?? JSON.stringify(given) ?? '' };
}
