import { describeError } from '../errors.js';
import type { JsonValue } from '../internal/json.js';
import { type ContentPart, isContent, isContentPart } from '../model/message.js';
import type { ToolResult } from './tool.js';

/** Longest result of one call, in UTF-16 units over text, base64 and JSON. A longer one becomes an error result. */
const MAX_RESULT_LENGTH = 10_000_000;

const WHOLE = Symbol.for('keelson.tool-result');

/**
 * A whole result as `execute` may return it: content, data beside it, or an error that is not thrown.
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

/** An error as the model gets it. */
export function errorResult(text: string): ToolResult {
  return { content: text.slice(0, MAX_RESULT_LENGTH), isError: true };
}

/** Whether a value can stand as the result of a call. */
export function isToolResult(value: unknown): value is ToolResult {
  return isContent((value as { content?: unknown } | null | undefined)?.content);
}

/** Turns what a tool returned into its result. Throws where it is nothing that a model can be given. */
export function toToolResult(output: unknown): ToolResult {
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

/** A result as the messages hold it: a copy, with nothing in it that JSON cannot hold. */
export function wholeResult({ content, structured, isError }: ToolResult): ToolResult {
  const length = typeof content === 'string' ? content.length : lengthOf(content);
  if (length > MAX_RESULT_LENGTH) return tooLong(length);
  const result: { -readonly [Key in keyof ToolResult]: ToolResult[Key] } = {
    content: typeof content === 'string' ? content : [...content],
  };
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
    text = JSON.stringify(output);
  } catch (error) {
    return errorResult(`The tool returned a value that is no JSON: ${describeError(error).split('\n')[0]}`);
  }
  if (text === undefined) {
    return errorResult(
      `The tool returned ${typeof output}. It has to return text, parts or data; null where there is nothing.`,
    );
  }
  if (text === '{}' && isOpaque(output as object)) {
    return errorResult('The tool returned an object of which JSON holds nothing, such as a Map. Return plain data.');
  }
  if (text.length > MAX_RESULT_LENGTH) return tooLong(text.length);
  // Parsed anew: what a message holds must be what its JSON says, and must not change with the tool's own object.
  return { content: text, structured: JSON.parse(text) as JsonValue };
}

/** Whether a value is of a class that has no JSON of its own: `{}` is not all that it holds. */
function isOpaque(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null && !('toJSON' in value);
}

function tooLong(length: number): ToolResult {
  return errorResult(
    `The result has ${length} characters, more than the ${MAX_RESULT_LENGTH} that a call may give. Ask for less.`,
  );
}

function lengthOf(parts: readonly ContentPart[]): number {
  let length = 0;
  for (const part of parts) {
    if (part.type === 'text') length += part.text.length;
    else length += part.type === 'image' ? part.image.length : part.data.length;
  }
  return length;
}
