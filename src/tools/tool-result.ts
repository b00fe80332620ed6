import { describeError } from '../errors.js';
import { type JsonValue, toJson } from '../internal/json.js';
import {
  type ContentPart,
  isContent,
  isContentPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../model/message.js';
import type { ToolResult } from './tool.js';

/**
 * Maximum length of one result, counted in UTF-16 units of text, base64 and JSON. A longer result becomes an error
 * result.
 */
const MAX_RESULT_LENGTH = 10_000_000;
const MAX_PARTS = 10_000;
const MAX_ERROR_LENGTH = 100_000;
/**
 * The maximum length of the note that `errorResult` appends to a shortened text. A text that was shortened once is not
 * shortened again.
 */
const CUT_MARK = 40;

const WHOLE = Symbol.for('keelson.tool-result');

/**
 * Makes a complete result for `execute` to return: content, optional structured data, and an optional error flag.
 *
 * @example
 * const find = defineTool({
 *   name: 'find',
 *   description: 'Finds a note.',
 *   input: z.object({ id: z.string() }),
 *   execute: ({ id }) => notes.get(id) ?? toolResult({ content: 'Not found.', isError: true }),
 * });
 */
export function toolResult(result: ToolResult): ToolResult {
  return { ...result, [WHOLE]: true } as ToolResult;
}

/** Makes an error result. A string of more than 100,000 characters is cut, and a note with its length is appended. */
export function errorResult(text: string): ToolResult {
  const { length } = text;
  const content = length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH)}… (${length} characters)` : text;
  return { content, isError: true };
}

/** Converts a tool result to a part of a tool message. */
export function resultPartOf(call: ToolCallPart, result: ToolResult): ToolResultPart {
  const part: { -readonly [Key in keyof ToolResultPart]: ToolResultPart[Key] } = {
    type: 'tool-result',
    id: call.id,
    name: call.name,
    content: result.content,
  };
  if (result.structured !== undefined) part.structured = result.structured;
  if (result.isError) part.isError = true;
  return part;
}

/** True for an object with valid `content`. */
export function isToolResult(value: unknown): value is ToolResult {
  return isContent((value as { content?: unknown } | null | undefined)?.content);
}

/** Converts the return value of a tool to a ToolResult. An invalid value becomes an error result. */
export function toToolResult(output: unknown): ToolResult {
  // An error would make a model repeat a call that has already had its effect. See
  // docs/decisions/0004-undefined-is-done.md.
  if (output === undefined) return { content: 'Done.' };
  if (typeof output === 'string')
    return output.length > MAX_RESULT_LENGTH ? tooLong(output.length) : { content: output };
  if (typeof output === 'object' && output !== null) {
    if (output instanceof Error) return errorResult(describeError(output));
    if (WHOLE in output) {
      return isToolResult(output) ? wholeResult(output) : errorResult('The tool returned a result without content.');
    }
    if (Array.isArray(output) && output.length > 0 && output.every(isContentPart))
      return wholeResult({ content: output });
  }
  return dataResult(output);
}

/**
 * Converts the result of a tool that the caller ran. An array becomes data and never content parts, so that a caller
 * cannot make the provider load files.
 */
export function toGivenResult(result: JsonValue, isError = false): ToolResult {
  const whole = typeof result === 'string' ? toToolResult(result) : dataResult(result);
  return isError ? wholeResult({ ...whole, isError }) : whole;
}

/**
 * Copies a result for the messages. Keeps only the members of `structured` that JSON can represent. A result that is
 * too long becomes an error result.
 */
export function wholeResult({ content: whole, structured, isError }: ToolResult): ToolResult {
  const isLongError = isError && typeof whole === 'string' && whole.length > MAX_ERROR_LENGTH + CUT_MARK;
  const content = isLongError ? errorResult(whole).content : whole;
  const isText = typeof content === 'string';
  if (!isText && content.length > MAX_PARTS) return tooLong(content.length, 'parts', MAX_PARTS);
  const length = isText ? content.length : lengthOf(content);
  if (length > MAX_RESULT_LENGTH) return tooLong(length);
  const result: { -readonly [Key in keyof ToolResult]: ToolResult[Key] } = { content: isText ? content : [...content] };
  if (structured !== undefined) {
    const data = dataResult(structured);
    if (data.isError) return data;
    if (data.structured !== undefined) result.structured = data.structured;
  }
  if (isError) result.isError = true;
  return result;
}

function dataResult(output: unknown): ToolResult {
  let text: string | undefined;
  try {
    text = toJson(output);
  } catch (error) {
    return errorResult(`The tool returned a value that is not JSON: ${describeError(error).split('\n')[0]}`);
  }
  if (text === undefined) {
    return errorResult(
      `The tool returned a value of type ${typeof output}. It must return a string, parts, data, or nothing.`,
    );
  }
  if (text.includes('{}') && hasOpaque(output)) {
    return errorResult('The tool returned data that JSON cannot hold, such as a Map or a promise. Return plain data.');
  }
  if (text.length > MAX_RESULT_LENGTH) return tooLong(text.length);
  // Parses the JSON again, so that the message equals its stored form and later changes of the tool's object have no
  // effect.
  return { content: text, structured: JSON.parse(text) as JsonValue };
}

/**
 * True if the data is or contains an instance of a class whose JSON is `{}`, although it may hold data. Examples are a
 * Map, a promise and an Error.
 */
function hasOpaque(data: unknown): boolean {
  let found = false;
  toJson(data, (_key, value) => {
    found ||= typeof value === 'object' && value !== null && isOpaque(value);
    return value;
  });
  return found;
}

function isOpaque(value: object): boolean {
  const isKept = (member: unknown) => member !== undefined && typeof member !== 'function';
  if (Array.isArray(value) || Object.values(value).some(isKept)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

function tooLong(length: number, unit = 'characters', limit = MAX_RESULT_LENGTH): ToolResult {
  return errorResult(`The result has ${length} ${unit}, more than the limit of ${limit}. Ask for less.`);
}

function lengthOf(parts: readonly ContentPart[]): number {
  let length = 0;
  for (const part of parts) {
    length -= part.type.length;
    for (const value of Object.values(part)) {
      const isCounted = typeof value === 'string' || value instanceof Uint8Array;
      length += (isCounted ? value : (JSON.stringify(value) ?? '')).length;
    }
  }
  return length;
}
