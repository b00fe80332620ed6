import type { JsonSchema } from '../../internal/json.js';
import type { ModelResponse, ToolSpec } from '../../model/model.js';
import { isObject, objectsIn, type WireObject } from '../shared/wire.js';

/** The names that the API accepts for the properties of a tool's arguments. */
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;
const LONGEST = 64;

/** The names of a tool's properties in requests, by the tool's own names. Contains only names that differ. */
type Renames = ReadonlyMap<string, string>;

const known = new WeakMap<JsonSchema, Renames>();

/** Returns the schema with property names that the API accepts. Changes only the properties at the root. */
export function withAcceptedProperties(schema: WireObject, renames: Renames): WireObject {
  if (renames.size === 0) return schema;
  const required = Array.isArray(schema.required)
    ? schema.required.map((name) => renames.get(name) ?? name)
    : schema.required;
  const properties = isObject(schema.properties) ? renamed(schema.properties, renames) : schema.properties;
  return { ...schema, properties, ...(required !== undefined && { required }) };
}

/** Returns the messages with the names of the request in the arguments of tool calls. */
export function withWireArguments(messages: readonly WireObject[], tools: readonly ToolSpec[]): readonly WireObject[] {
  const renames = renamesByTool(tools);
  if (renames.size === 0) return messages;
  const toBlock = (block: WireObject) => {
    const names = block.type === 'tool_use' ? renames.get(String(block.name)) : undefined;
    return names && isObject(block.input) ? { ...block, input: renamed(block.input, names) } : block;
  };
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: objectsIn(message.content).map(toBlock) } : message,
  );
}

/** Returns the response with the tools' own names in the arguments of tool calls. */
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

/** Returns the names that differ in requests. `parameters` is the schema of the tool as the request has it. */
export function renamesOf(inputSchema: JsonSchema, parameters: WireObject): Renames {
  const before = known.get(inputSchema);
  if (before !== undefined) return before;
  const names = isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
  const taken = new Set(names.filter((name) => ACCEPTED.test(name)));
  const renames = new Map<string, string>();
  for (const name of names) {
    if (ACCEPTED.test(name)) continue;
    const wire = freeName(name, taken);
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

function freeName(name: string, taken: ReadonlySet<string>): string {
  const legal = name.replace(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, LONGEST) || '_';
  for (let count = 1; ; count += 1) {
    const end = count === 1 ? '' : `_${count}`;
    const candidate = legal.slice(0, LONGEST - end.length) + end;
    if (!taken.has(candidate)) return candidate;
  }
}

function renamed(fields: WireObject, names: Renames): WireObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value]));
}
