import type { JsonSchema } from '../../internal/json.js';
import type { ModelResponse, ToolSpec } from '../../model/model.js';
import { toDraft2020 } from '../shared/tools/draft-2020.js';
import { toolParameters } from '../shared/tools/tool-parameters.js';
import { isObject, objectsIn, type WireObject } from '../shared/wire.js';
import { freeName, type Renames, renamed, withRenames } from './renamed-schema.js';

/** The rules of Anthropic's API for tool names. */
export const ANTHROPIC_TOOLS = { provider: 'Anthropic', name: /^[a-zA-Z0-9_-]{1,128}$/ };

/** Matches the property names that the API accepts in the arguments of a tool. */
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;
const LONGEST = 64;

const known = new WeakMap<JsonSchema, Renames>();

const sent = new WeakMap<JsonSchema, WireObject>();

/**
 * Returns the schema of a tool's arguments with property names that the API accepts. Changes only names at the root of
 * the schema, because the API checks only these.
 */
export function acceptedParameters(inputSchema: JsonSchema): WireObject {
  const before = sent.get(inputSchema);
  if (before !== undefined) return before;
  const parameters = toolParameters(inputSchema);
  const renames = renamesOf(inputSchema, parameters);
  const accepted = renames.size === 0 ? parameters : renamedParameters(inputSchema, renames);
  sent.set(inputSchema, accepted);
  return accepted;
}

/**
 * Renames properties, and then merges the alternatives at the root, such as `anyOf`. In this order, the description of
 * the merged schema shows the new names.
 */
function renamedParameters(inputSchema: JsonSchema, renames: Renames): WireObject {
  return withRenames(toolParameters(withRenames(toDraft2020(inputSchema), renames)), renames);
}

/**
 * Renames the arguments of earlier tool calls, so that they match the property names in the request. Accepts messages
 * of this API and of the AI SDK.
 *
 * Call it after the tools of the request were converted, because the conversion chooses the names.
 */
export function withWireArguments(messages: readonly WireObject[], tools: readonly ToolSpec[]): readonly WireObject[] {
  const renames = renamesByTool(tools);
  if (renames.size === 0) return messages;
  const toBlock = (block: WireObject) => {
    const isCall = block.type === 'tool_use' || block.type === 'tool-call';
    const names = isCall ? renames.get(String(block.name ?? block.toolName)) : undefined;
    return names && isObject(block.input) ? { ...block, input: renamed(block.input, names) } : block;
  };
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: objectsIn(message.content).map(toBlock) } : message,
  );
}

/**
 * Renames the arguments of tool calls in a response from the names in the request back to the tool's own property
 * names.
 */
export function withOwnArguments(response: ModelResponse, tools: readonly ToolSpec[]): ModelResponse {
  const renames = renamesByTool(tools);
  if (renames.size === 0) return response;
  const content = response.content.map((part) => {
    const names = part.type === 'tool-call' ? renames.get(part.name) : undefined;
    if (part.type !== 'tool-call' || names === undefined || !isObject(part.input)) return part;
    return { ...part, input: renamed(part.input, new Map([...names].map(([own, wire]) => [wire, own]))) };
  });
  return { ...response, content: content as ModelResponse['content'] };
}

/**
 * Returns the properties that have another name in requests than in the tool's own schema. `parameters` is the schema
 * in the request.
 */
function renamesOf(inputSchema: JsonSchema, parameters: WireObject): Renames {
  const before = known.get(inputSchema);
  if (before !== undefined) return before;
  const names = isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
  const taken = new Set(names.filter((name) => ACCEPTED.test(name)));
  const renames = new Map<string, string>();
  for (const name of names) {
    if (ACCEPTED.test(name)) continue;
    const legal = name.replace(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, LONGEST) || '_';
    const wire = freeName(legal, taken, LONGEST);
    taken.add(wire);
    renames.set(name, wire);
  }
  known.set(inputSchema, renames);
  return renames;
}

function renamesByTool(tools: readonly ToolSpec[]): ReadonlyMap<string, Renames> {
  const found = new Map<string, Renames>();
  for (const { name, inputSchema } of tools) {
    const renames = known.get(inputSchema);
    if (renames !== undefined && renames.size > 0) found.set(name, renames);
  }
  return found;
}
