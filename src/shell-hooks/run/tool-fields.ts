import { isObject } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import type { HookEffects } from '../hook/effects.js';

/** A tool call, as events describe it. */
export interface CallRecord {
  readonly id: string;
  readonly name: string;
  args: unknown;
}

/** Returns the data of a tool call. */
export function callData({ id, name, args }: CallRecord) {
  return { tool_name: name, args: args ?? null, tool_use_id: id };
}

/** Returns the arguments of a tool call after the changes of a hook. */
export function rewriteInput(input: unknown, { input: whole, inputChanges }: HookEffects): unknown {
  if (whole !== undefined) return whole;
  if (inputChanges === undefined) return input;
  return isObject(input) ? { ...input, ...inputChanges } : { ...inputChanges };
}

/** Returns a tool result in the format that hooks read. */
export function shownResult({ content, structured, isError = false }: ToolResult): object {
  return { content, structured, is_error: isError };
}

/** Returns a tool result after the changes of a hook. A failed result stays failed. */
export function rewriteResult(value: ToolResult, { result }: HookEffects): ToolResult {
  if (result === undefined) return value;
  return value.isError ? { ...result, isError: true } : result;
}

type CheckedTool = Pick<Tool, 'inputSchema' | 'check'>;

/**
 * Returns the arguments of a call as its tool gets them: with the defaults of the schema, and without arguments that
 * the tool does not get. Arguments that the schema names come first, because at some events Cursor shows only the first
 * path or command.
 */
export function receivedArgs(tool: CheckedTool | undefined, args: unknown): unknown {
  const properties = tool?.inputSchema.properties;
  if (tool === undefined || !isObject(args) || !isObject(properties) || Object.keys(properties).length === 0)
    return args;
  const named = Object.entries(properties).flatMap(([name, schema]) => {
    if (Object.hasOwn(args, name)) return [[name, args[name]]];
    const { default: value } = isObject(schema) ? schema : {};
    return value === undefined ? [] : [[name, value]];
  });
  const others = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
  const got = others.length === 0 ? {} : checked(tool, args);
  const kept = others.filter((name) => Object.hasOwn(got, name)).map((name) => [name, args[name]]);
  return Object.fromEntries([...named, ...kept]);
}

/** Returns the arguments after the check of the tool, or the given ones if the result is not known now. */
function checked(tool: CheckedTool, args: object): object {
  if (tool.inputSchema.additionalProperties === false) return {};
  try {
    const result = tool.check(args);
    return !isPromise(result) && result.issues === undefined && isObject(result.value) ? result.value : args;
  } catch {
    return args;
  }
}
