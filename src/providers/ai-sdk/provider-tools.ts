import type { ToolResultPart } from '../../model/message.js';
import { contentText } from '../shared/tools/tool-result.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from '../shared/wire.js';

/** The tools that a provider defines, each by the name that the agent uses for it. */
export type ProviderTools = Readonly<Record<string, object>>;

type ToJson = (text: string, isError: boolean) => unknown;

/**
 * Some tools that OpenAI defines are run by the application, and need a result in a certain JSON form. Each function
 * converts a text into the result of the tool with this id.
 */
const TEXT_RESULTS: ReadonlyMap<string, ToJson> = new Map<string, ToJson>([
  ['apply_patch', (output, isError) => ({ status: isError ? 'failed' : 'completed', output })],
  ['local_shell', (output) => ({ output })],
  ['shell', (text, isError) => ({ output: [shellEntry(text, isError)] })],
  ['tool_search', () => ({ tools: [] })],
]);

/** True for a custom tool, whose input is a string instead of JSON. */
export function isCustomTool(tool: object | undefined): boolean {
  return /\.custom$/.test(idOf(tool));
}

/**
 * Returns the result of a tool that OpenAI defines and the application runs, in the JSON form that the AI SDK provider
 * requires. Returns undefined for any other tool.
 */
export function providerToolJson(result: ToolResultPart, tools: ProviderTools): unknown {
  const tool = Object.hasOwn(tools, result.name) ? tools[result.name] : undefined;
  const [, id = ''] = /^(?:openai|azure)\.(apply_patch|computer|local_shell|shell|tool_search)$/.exec(idOf(tool)) ?? [];
  if (id === '') return undefined;
  const text = contentText(result.content);
  const given = parseJson(text);
  if (id === 'shell' && isObject(given)) return { ...given, output: objectsIn(given.output).map(camelEntry) };
  if (isObject(given)) return given;
  return TEXT_RESULTS.get(id)?.(text, result.isError === true);
}

function idOf(tool: object | undefined): string {
  return textOr((tool as WireObject | undefined)?.id);
}

function shellEntry(text: string, isError: boolean): WireObject {
  const outcome = { type: 'exit', exitCode: isError ? 1 : 0 };
  return isError ? { stdout: '', stderr: text, outcome } : { stdout: text, stderr: '', outcome };
}

/** Renames `exit_code` to `exitCode`: the API uses the first name, and the AI SDK provider the second. */
function camelEntry(entry: WireObject): WireObject {
  const { exit_code: code, ...outcome } = isObject(entry.outcome) ? entry.outcome : {};
  return { ...entry, outcome: code === undefined ? outcome : { ...outcome, exitCode: code } };
}
