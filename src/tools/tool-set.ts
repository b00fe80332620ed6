import { ToolConflictError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { invalidOption } from '../internal/options/validate.js';
import type { ToolCallPart } from '../model/message.js';
import type { Waiting } from '../model/waiting.js';
import type { LiveToolSet, Tool, ToolSource } from './tool.js';

/** A live tool set with methods that add and remove tools. */
export interface ToolSet<Context = unknown> extends LiveToolSet<Context> {
  /** Adds tools for all later turns. Throws ToolConflictError, and adds no tool, if a name is already in use. */
  readonly add: (...tools: readonly Tool<Context>[]) => void;
  /** Removes the tool with this name. Returns false if the name is unknown. */
  remove(name: string): boolean;
}

/**
 * Makes a tool set whose tools can be added and removed while the agent is in use.
 *
 * @example
 * const set = createToolSet([search]);
 * const agent = new Agent({ model, tools: set });
 * set.add(add);
 * set.remove('search');
 */
export function createToolSet<Context = unknown>(tools: readonly Tool<Context>[] = []): ToolSet<Context> {
  let list: readonly Tool<Context>[] = [];
  const set = {
    revision: 0,
    list: () => list,
    add(...added: readonly Tool<Context>[]) {
      const next = toolsOf([...list, ...added]);
      assertDistinct(next);
      list = next;
      set.revision += 1;
    },
    remove(name: string) {
      const next = list.filter((tool) => tool.name !== name);
      if (next.length === list.length) return false;
      list = next;
      set.revision += 1;
      return true;
    },
  };
  set.add(...toolsOf(tools));
  return set;
}

const LIST_OF_TOOLS = 'an array of tools, or a tool set made by `createToolSet`';

/** True for an object with the members of a tool that a run needs. */
export function isTool(value: unknown): value is Tool {
  const tool = value as Tool | null | undefined;
  const isRunnable = tool?.execute === undefined || typeof tool.execute === 'function';
  return typeof tool?.name === 'string' && isRunnable && typeof tool.check === 'function';
}

/** True for a tool without `execute`, whose calls wait until the caller returns their results. */
export function isRunByCaller(tool: Tool | undefined): boolean {
  return tool !== undefined && tool.execute === undefined;
}

/** Returns the current tools of a source. Throws OptionInvalidError if the source or one of its tools is invalid. */
export function toolsOf<Context>(source: ToolSource<Context>): readonly Tool<Context>[] {
  const list: unknown = Array.isArray(source) ? source : (source as Partial<LiveToolSet> | null)?.list?.();
  if (!Array.isArray(list)) throw invalidOption('tools', LIST_OF_TOOLS + adviceFor(source), source);
  const wrong = list.findIndex((tool) => !isTool(tool));
  if (wrong >= 0) {
    const isAgent = typeof (list[wrong] as { asTool?: unknown } | undefined)?.asTool === 'function';
    const expected = isAgent ? 'a tool; pass `agent.asTool({ description })`' : 'a tool made by `defineTool`';
    throw invalidOption(`tools[${wrong}]`, expected, list[wrong]);
  }
  return list;
}

/** Returns advice for two likely mistakes in `tools`: a single tool, and an object of tools by name. */
function adviceFor(source: unknown): string {
  if (isTool(source)) return `; pass \`tools: [${source.name}]\``;
  return isObject(source) && Object.values(source).some(isTool) ? '; pass `Object.values(tools)`' : '';
}

/** Throws a ToolConflictError if two tools have the same name. */
export function assertDistinct(tools: readonly Tool<never>[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new ToolConflictError(name);
    names.add(name);
  }
}

/**
 * The tools of waiting calls, by the object of the call. Decisions on a call are checked with its tool before the run
 * continues.
 */
const pendingTools = new WeakMap<object, Tool>();

/** Stores the tool of a waiting call. */
export function rememberTool(call: object, tool: Tool | undefined): void {
  if (tool !== undefined) pendingTools.set(call, tool);
}

/** Returns the tool of a waiting call. Returns undefined if the object is a copy of the call. */
export function rememberedTool(call: object): Tool | undefined {
  return pendingTools.get(call);
}

/** Finds a tool by its name. */
export type FindTool = (name: string) => Tool | undefined;

/** Maps each tool that runs an agent to a function that finds the tools of that agent. */
const toolsInside = new WeakMap<Tool, FindTool>();

/** Stores the function that finds the tools of the agent that a tool runs. */
export function rememberAgent(tool: Tool, find: FindTool): void {
  toolsInside.set(tool, find);
}

/** True for a tool that runs an agent. */
export function runsAgent(tool: Tool): boolean {
  return toolsInside.has(tool);
}

/** Finds the tool of a waiting call. For a call of a nested run, searches the tools of the agent that made the call. */
export function toolOf({ callers, call }: Pick<Waiting, 'callers' | 'call'>, find: FindTool): Tool | undefined {
  const findInside = (outer: FindTool, { name }: ToolCallPart): FindTool => {
    const tool = outer(name);
    return (tool && toolsInside.get(tool)) ?? (() => undefined);
  };
  return call && callers.reduce(findInside, find)(call.name);
}
