import type { AssistantPart, FilePart, ToolCallPart, ToolResultPart } from '../../../../model/message.js';
import { readArguments, uniqueId } from '../../../shared/answer.js';
import { isObject, objectsIn, textOr, type WireObject } from '../../../shared/wire.js';
import { toMetadata, without } from '../metadata.js';

/** Facts about the request that a response answers. */
export interface ResponseSource {
  readonly model: string;
  /** True for a tool call that the server runs itself and for whose result it returns no item. */
  readonly isRunByServer: (item: WireObject) => boolean;
}

/** Facts about the response that an output item belongs to. */
export interface ItemContext extends ResponseSource {
  /**
   * Records whether the response already has a commentary text (true) and another text (false). A further text of the
   * same kind becomes a new paragraph.
   */
  readonly written: Set<boolean>;
  /** The ids of the tool calls that were converted so far, so that no id occurs twice. */
  readonly ids: Set<string>;
  /** The ids of the calls whose outputs are in the same response. OpenAI ran these calls itself. */
  readonly answered: ReadonlySet<unknown>;
  /** The ids of calls that OpenAI ran without giving them a call id. Their outputs follow in the same order. */
  readonly unnamed: string[];
}

/** Reads the output items of a tool that OpenAI runs. Each item has both the call and its result. */
interface HostedTool {
  readonly name: (item: WireObject) => string;
  readonly input: (item: WireObject) => Pick<ToolCallPart, 'input' | 'invalidInput'>;
  readonly output: (item: WireObject) => unknown;
}

const hostedTools: ReadonlyMap<string, HostedTool> = new Map([
  [
    'web_search_call',
    {
      name: () => 'web_search',
      input: ({ action }) => ({ input: isObject(action) ? without(action, 'sources') : {} }),
      output: ({ action }) => (isObject(action) ? (action.sources ?? '') : ''),
    },
  ],
  [
    'file_search_call',
    {
      name: () => 'file_search',
      input: ({ queries }) => ({ input: { queries } }),
      output: ({ results }) => results ?? '',
    },
  ],
  [
    'code_interpreter_call',
    {
      name: () => 'code_interpreter',
      input: ({ code, container_id }) => ({ input: { code, container_id } }),
      output: ({ outputs }) => outputs ?? '',
    },
  ],
  [
    'mcp_call',
    {
      name: (item) => mcpToolName(item),
      input: ({ arguments: text }) => readArguments(text),
      output: ({ output, error }) => error ?? output ?? '',
    },
  ],
]);

/** The types of calls that OpenAI runs and for which a separate item has the result, with the names of their tools. */
const callsWithOutput = new Map([
  ['shell_call', 'shell'],
  ['tool_search_call', 'tool_search'],
  ['program', 'programmatic_tool_calling'],
]);

const outputs = new Map([
  ['shell_call_output', 'shell'],
  ['tool_search_output', 'tool_search'],
  ['program_output', 'programmatic_tool_calling'],
]);

/** True for an item that has the result of a call that OpenAI ran. */
export function isOutput({ type }: WireObject): boolean {
  return outputs.has(textOr(type));
}

/** Returns the name that the agent uses for a tool of an MCP server that OpenAI calls. */
export function mcpToolName({ server_label: server, name }: WireObject): string {
  return textOr(name) === '' ? '' : `mcp__${textOr(server)}__${textOr(name)}`;
}

/** Returns the message parts for a call that OpenAI ran. Returns undefined for any other item. */
export function hostedParts(item: WireObject, context: ItemContext): readonly AssistantPart[] | undefined {
  const type = textOr(item.type);
  if (type === 'image_generation_call') return imageParts(item, context);
  const separate = callsWithOutput.get(type);
  if (separate !== undefined) return [callWithOutput(item, separate, context)];
  const tool = hostedTools.get(type);
  if (tool === undefined) return undefined;
  const { model, ids } = context;
  const id = uniqueId(item.id, ids);
  const name = tool.name(item);
  const isError = item.status === 'failed' || Boolean(item.error);
  const call: ToolCallPart = { type: 'tool-call', id, name, ...tool.input(item), providerExecuted: true };
  const result: ToolResultPart = {
    type: 'tool-result',
    id,
    name,
    content: textFor(tool.output(item)),
    ...toMetadata({ model, item: without(item) }),
  };
  return [call, isError ? { ...result, isError } : result];
}

/** Returns the message part for the result of a call that OpenAI ran. Returns undefined for any other item. */
export function outputParts(item: WireObject, { model, unnamed }: ItemContext): readonly AssistantPart[] | undefined {
  const name = outputs.get(textOr(item.type));
  if (name === undefined) return undefined;
  const id = textOr(item.call_id) || (unnamed.shift() ?? textOr(item.id));
  const content = textFor(item.output ?? item.result ?? item.tools);
  return [{ type: 'tool-result', id, name, content, ...toMetadata({ model, item: without(item) }) }];
}

function callWithOutput(item: WireObject, name: string, { model, ids, unnamed }: ItemContext): ToolCallPart {
  const id = uniqueId(item.call_id ?? item.id, ids);
  if (textOr(item.call_id) === '') unnamed.push(id);
  const { action, arguments: given, code } = item;
  const input = action ?? given ?? { code };
  const metadata = toMetadata({ model, item: without(item) });
  return { type: 'tool-call', id, name, input, providerExecuted: true, ...metadata };
}

/**
 * Returns a generated picture as a tool call and a file. Only the file stores the output item, so that a later request
 * contains the item once.
 */
function imageParts(item: WireObject, { model, ids }: ItemContext): readonly AssistantPart[] {
  const id = uniqueId(item.id, ids);
  const { revised_prompt, size, quality, background, output_format } = item;
  const described = Object.entries({ prompt: revised_prompt, size, quality, background, output_format });
  const input = Object.fromEntries(described.filter(([, value]) => typeof value === 'string'));
  const call: ToolCallPart = { type: 'tool-call', id, name: 'image_generation', input, providerExecuted: true };
  const kept = { type: item.type, id: item.id, status: item.status };
  const data = textOr(item.result);
  const mediaType = `image/${textOr(output_format) || 'png'}`;
  if (data === '') return [call];
  const picture: FilePart = { type: 'file', data, mediaType, ...toMetadata({ model, item: kept }) };
  return [call, picture];
}

/** Returns the output of a tool as text. For the code interpreter, this is its logs and the URLs of its images. */
function textFor(value: unknown): string {
  if (typeof value === 'string') return value;
  const lines = objectsIn(value).map(({ logs, url, type }) => (type === 'logs' ? logs : type === 'image' && url));
  if (lines.length > 0 && lines.every((line) => typeof line === 'string')) return lines.join('\n');
  return JSON.stringify(value) ?? '';
}
