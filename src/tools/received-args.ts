import { isObject } from '../internal/json.js';
import { copyData, isPlainObject } from '../internal/plain-data.js';
import { isPromise } from '../internal/promise.js';
import { isJson } from './edited-approval.js';
import type { StandardIssue, StandardResult } from './standard-schema.js';
import type { Tool } from './tool.js';

type CheckedTool = Pick<Tool, 'inputSchema' | 'check'>;

/**
 * Returns the arguments of a call as its tool gets them: with the defaults of the schema, and without arguments that
 * the tool does not get. Values that the schema converts, and arguments that it refuses, stay as the model wrote them.
 *
 * Arguments that the schema names come first, because at some events Cursor shows only the first path or command.
 *
 * If the check of the tool is asynchronous, the defaults of nested objects are missing.
 */
export function receivedArgs(tool: CheckedTool | undefined, args: unknown): unknown {
  if (tool === undefined || !isObject(args)) return args;
  return argsOf(tool, args, resultNow(tool, args));
}

/** Like `receivedArgs`, but waits for the check, and checks again without `null` members as the tool call does. */
export async function checkedArgs(tool: CheckedTool | undefined, args: unknown): Promise<unknown> {
  if (tool === undefined || !isObject(args)) return args;
  return argsOf(tool, args, await resultLater(tool, args));
}

type Args = Readonly<Record<string, unknown>>;

function argsOf({ inputSchema }: CheckedTool, args: Args, result: StandardResult<unknown> | undefined): unknown {
  const { properties, additionalProperties } = inputSchema;
  if (!isObject(properties) || Object.keys(properties).length === 0) return args;
  const got = result?.issues === undefined && isObject(result?.value) ? result.value : undefined;
  const named = Object.entries(properties).flatMap(([name, schema]) => {
    const isLeftOut = own(args, name) === undefined || (args[name] === null && !Object.hasOwn(got ?? args, name));
    if (!isLeftOut) return [[name, withDefaults(args[name], own(got, name))]];
    const value = (isObject(schema) ? schema.default : undefined) ?? own(got, name) ?? own(args, name);
    return isJson(value) ? [[name, value]] : [];
  });
  const isOther = (name: string) => !Object.hasOwn(properties, name) && Object.hasOwn(got ?? args, name);
  const others = additionalProperties === false ? [] : Object.keys(args).filter(isOther);
  return Object.fromEntries([...named, ...others.map((name) => [name, args[name]])]);
}

/** Returns the result of the tool's check. Returns undefined if it is not known now. */
function resultNow(tool: CheckedTool, args: Args): StandardResult<unknown> | undefined {
  try {
    const result = tool.check(copyData(args));
    if (!isPromise(result)) return result;
    result.then(undefined, () => {});
  } catch {
    // The tool does not run with these arguments.
  }
  return undefined;
}

async function resultLater(tool: CheckedTool, args: Args): Promise<StandardResult<unknown> | undefined> {
  try {
    const result = await tool.check(copyData(args));
    return result.issues === undefined ? result : await checkAgain((value) => tool.check(value), args, result.issues);
  } catch {
    return undefined;
  }
}

/** Returns the written value with the members that the check of the tool has added or put in the place of `null`. */
function withDefaults(written: unknown, got: unknown): unknown {
  if (written === null) return isJson(got) ? got : written;
  if (Array.isArray(written) && Array.isArray(got) && written.length === got.length)
    return written.map((item, index) => withDefaults(item, got[index]));
  if (!isObject(written) || !isObject(got) || !isPlainObject(got)) return written;
  const names = new Set([...Object.keys(written), ...Object.keys(got)]);
  const members = [...names].map((name) => [
    name,
    Object.hasOwn(written, name) ? withDefaults(written[name], own(got, name)) : got[name],
  ]);
  return Object.fromEntries(members.filter(([name, value]) => Object.hasOwn(written, name as string) || isJson(value)));
}

function own(object: Args | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Checks an invalid value again without its `null` members. Many models write `null` for an optional member instead of
 * omitting it.
 *
 * Returns the given issues if the value is still invalid.
 */
export async function checkAgain(
  check: Tool['check'],
  value: unknown,
  issues: readonly StandardIssue[],
): Promise<StandardResult<unknown>> {
  // For a union, the path of the issue ends at the union and not at the member.
  for (const remove of [removeNull, removeNulls]) {
    const copy = copyData(value);
    const removed = issues.map(({ path = [] }) => remove(copy, path.map(keyOf)));
    const checked = removed.includes(true) ? await check(copy) : { issues };
    if (checked.issues === undefined) return checked;
  }
  return { issues };
}

type Path = readonly PropertyKey[];

/** Removes the member at a path if it is `null`. Returns false if nothing was removed. */
function removeNull(value: unknown, path: Path): boolean {
  const key = path.at(-1);
  const parent = at(value, path.slice(0, -1));
  if (key === undefined || !isObject(parent) || parent[key as string] !== null) return false;
  return Reflect.deleteProperty(parent, key);
}

/** Removes the members below a path that are `null`. Returns false if nothing was removed. */
function removeNulls(value: unknown, path: Path): boolean {
  const parent = at(value, path);
  if (typeof parent !== 'object' || parent === null) return false;
  const keys = Object.keys(parent);
  return keys.map((key) => removeNull(parent, [key]) || removeNulls(parent, [key])).includes(true);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);
}

function keyOf(step: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof step === 'object' ? step.key : step;
}
