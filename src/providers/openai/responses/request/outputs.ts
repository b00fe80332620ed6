import { reasonOfDeniedCall } from '../../../../model/denial.js';
import type { ContentPart, ToolResultPart } from '../../../../model/message.js';
import { fileOf } from '../../../shared/file-data.js';
import { toolParameters } from '../../../shared/tools/tool-parameters.js';
import { contentText, resultText } from '../../../shared/tools/tool-result.js';
import { defined, isObject, objectsIn, parseJson, textOr, type WireObject, wellFormed } from '../../../shared/wire.js';
import { isStrictSchema } from '../../schema.js';
import { resultPart, toUrl } from './content.js';

/**
 * Returns the output for the call of a function or custom tool: a string, or an array of parts if the result has images
 * or files.
 */
export function outputContent(result: ToolResultPart): string | readonly WireObject[] {
  const { content, isError } = result;
  if (typeof content === 'string' || content.every(({ type }) => type === 'text')) return plainOutput(result);
  const nonEmpty = content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const error: readonly ContentPart[] = isError ? [{ type: 'text', text: 'Error:' }] : [];
  return [...error, ...nonEmpty].map(resultPart);
}

/** Returns a tool result as a string. The text of an error begins with "Error". */
export function plainOutput(result: ToolResultPart): string {
  return wellFormed(resultText(result));
}

/**
 * Returns the JSON data in the text of a tool result. Does not read `structured`, because a lifecycle may have changed
 * only the text.
 */
export function dataIn({ content }: ToolResultPart): unknown {
  return parseJson(contentText(content));
}

/**
 * Returns the output for a `shell` call. A result in OpenAI's form, with `stdout`, `stderr` and an outcome, is kept.
 * Any other result becomes one entry with its text as `stdout`, or as `stderr` after a failure.
 */
export function shellOutput(result: ToolResultPart, action: unknown): WireObject {
  const given = dataIn(result);
  const entries = objectsIn(isObject(given) ? (given.output ?? [given]) : given).filter(isEntry);
  const limits = [given, action].map((each) => isObject(each) && (each.max_output_length ?? each.maxOutputLength));
  const limit = limits.find((each) => typeof each === 'number');
  const output = entries.length > 0 ? entries.map(toEntry) : [textEntry(result)];
  return { output: wellFormed(output), max_output_length: limit };
}

function isEntry(entry: WireObject): boolean {
  return typeof entry.stdout === 'string' || typeof entry.stderr === 'string';
}

function toEntry({ stdout, stderr, outcome, exit_code, exitCode }: WireObject): WireObject {
  const given = isObject(outcome) ? outcome : {};
  const code = given.exit_code ?? given.exitCode ?? exit_code ?? exitCode;
  const ended = given.type === 'timeout' ? { type: 'timeout' } : { type: 'exit', exit_code: Number(code ?? 0) };
  return { stdout: textOr(stdout), stderr: textOr(stderr), outcome: ended };
}

function textEntry(result: ToolResultPart): WireObject {
  const text = contentText(result.content);
  const outcome = { type: 'exit', exit_code: result.isError ? 1 : 0 };
  return result.isError ? { stdout: '', stderr: text, outcome } : { stdout: text, stderr: '', outcome };
}

/** A white image of one pixel. The API requires a screenshot for each `computer` call, even if the action failed. */
const BLANK =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';

/**
 * Returns the items for the result of a `computer` call. The screenshot is the image of the result, or `image_url` or
 * `file_id` in its data. The AI SDK's names for these fields work too.
 *
 * A result without a screenshot gets a blank image, and its text follows in a user message.
 */
export function computerOutput(result: ToolResultPart, callId: string): readonly WireObject[] {
  const data = dataIn(result);
  const given = isObject(data) ? data : {};
  const shot = screenshotIn(result, given);
  const output = { type: 'computer_screenshot', ...(shot ?? { image_url: BLANK }) };
  const checks = objectsIn(given.acknowledged_safety_checks ?? given.acknowledgedSafetyChecks);
  const acknowledged_safety_checks = checks.length > 0 ? checks : undefined;
  const item = defined({ type: 'computer_call_output', call_id: callId, output, acknowledged_safety_checks });
  if (shot !== undefined) return [item];
  return [item, { role: 'user', content: [{ type: 'input_text', text: plainOutput(result) }] }];
}

function screenshotIn({ content }: ToolResultPart, given: WireObject): WireObject | undefined {
  for (const part of typeof content === 'string' ? [] : content) {
    if (part.type !== 'text' && fileOf(part).mediaType.startsWith('image/')) return { image_url: toUrl(fileOf(part)) };
  }
  const {
    imageUrl,
    image_url = imageUrl,
    fileId,
    file_id = fileId,
    detail,
  } = isObject(given.output) ? given.output : given;
  if (textOr(image_url) === '' && textOr(file_id) === '') return undefined;
  return defined({ image_url, file_id, detail });
}

/**
 * Returns the tools that a tool search has found. They are in the result's data, as an array or under `tools`. Tools of
 * the agent become function tools. A tool whose schema OpenAI refuses is left out.
 */
export function toolsFound(result: ToolResultPart): readonly WireObject[] {
  const given = dataIn(result);
  if (result.isError) return [];
  return objectsIn(isObject(given) ? given.tools : given).flatMap((tool) => {
    const { name, description, inputSchema } = tool;
    if (!isObject(inputSchema)) return [tool];
    const { parameters } = parametersOf(inputSchema);
    return parameters ? [{ type: 'function', name, description, parameters, strict: isStrictSchema(parameters) }] : [];
  });
}

function parametersOf(schema: WireObject): { readonly parameters?: WireObject } {
  try {
    return { parameters: toolParameters(schema) };
  } catch {
    return {};
  }
}

/** Returns the reason that a person gave for denying the call, if the result contains one. */
export function approvalReason({ content }: ToolResultPart): string | undefined {
  return reasonOfDeniedCall(contentText(content));
}
