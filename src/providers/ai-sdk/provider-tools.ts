import type { ToolResultPart } from '../../model/message.js';
import { contentText } from '../shared/tools/tool-result.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from '../shared/wire.js';

/** Tools that a provider defines, by the names of the agent's tools. */
export type ProviderTools = Readonly<Record<string, object>>;

type ToJson = (text: string, isError: boolean) => unknown;

/** Functions that convert a text to the result of an OpenAI tool which the application runs, by the tool's id. */
const TEXT_RESULTS: ReadonlyMap<string, ToJson> = new Map<string, ToJson>([
  ['apply_patch', (output, isError) => ({ status: isError ? 'failed' : 'completed', output })],
  ['local_shell', (output) => ({ output })],
  ['shell', (text, isError) => ({ output: [shellEntry(text, isError)] })],
  ['tool_search', () => ({ tools: [] })],
]);

/** True for a tool whose input is a string instead of JSON. */
export function isCustomTool(tool: object | undefined): boolean {
  return /\.custom$/.test(idOf(tool));
}

/**
 * Returns the result of a tool that OpenAI defines and the application runs, in the JSON form that the provider
 * requires. Returns undefined for another tool.
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

/** Renames a field, because the provider writes the exit code in camel case and the API in snake case. */
function camelEntry(entry: WireObject): WireObject {
  const { exit_code: code, ...outcome } = isObject(entry.outcome) ? entry.outcome : {};
  return { ...entry, outcome: code === undefined ? outcome : { ...outcome, exitCode: code } };
}
