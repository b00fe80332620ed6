import { describeError } from '../../errors.js';
import type { Awaitable } from '../../internal/promise.js';
import { describeIssues } from '../../tools/standard-schema.js';
import type { Tool, ToolContext } from '../../tools/tool.js';
import { PluginConflictError } from '../error.js';
import type { AgentTool, PluginToolRegistry, ToolExecutionResult } from '../plugin.js';
import type { HookManager } from './hook-manager.js';
import { shownTool, toTool } from './tool.js';

/** Tools by name, for use without an agent. */
export interface ToolRegistry extends PluginToolRegistry {
  /** Adds a tool. Throws where it cannot be used, and where its name is taken. */
  register(tool: AgentTool): void;
  /**
   * Runs a tool as an agent would: past the hooks, with checked arguments. Whatever goes wrong is an error result; it
   * never rejects.
   */
  execute(name: string, input: Record<string, unknown>): Promise<ToolExecutionResult>;
}

/**
 * Makes a registry. With a hook manager each execution passes its `beforeToolExecute` and `afterToolExecute`.
 *
 * @example
 * const registry = createToolRegistry(hookManager);
 * registry.register(weather);
 * const { content } = await registry.execute('weather', { city: 'Bergen' });
 */
export function createToolRegistry(hookManager?: HookManager): ToolRegistry {
  const tools = new Map<string, Tool>();
  const run = async (name: string, input: Record<string, unknown>): Promise<ToolExecutionResult> => {
    const tool = tools.get(name);
    if (tool === undefined) return failure(`There is no tool "${name}". Tools: ${[...tools.keys()].join(', ')}.`);
    try {
      const checked = await tool.check(input);
      if (checked.issues === undefined) return await executed(tool, checked.value);
      return failure(`The arguments of "${name}" are not valid: ${describeIssues(checked.issues)}`);
    } catch (error) {
      return failure(describeError(error));
    }
  };
  return {
    list: () => [...tools.keys()],
    get: (name) => shownTool(tools.get(name)),
    register(tool) {
      const added = toTool(tool, 'registry');
      if (tools.has(added.name)) throw new PluginConflictError(`A tool named "${added.name}" is registered already.`);
      tools.set(added.name, added);
    },
    async execute(name, input) {
      const verdict = (await hookManager?.judgeToolCall(name, input)) ?? { name, input };
      if (verdict.blocked !== undefined) return failure(verdict.blocked);
      const result = await run(verdict.name, verdict.input);
      return hookManager ? hookManager.afterToolExecute(verdict.name, verdict.input, result) : result;
    },
  };
}

/** A plugin's tool takes nothing but its input, so it is run without what a run would give it. */
async function executed(tool: Tool, input: unknown): Promise<ToolExecutionResult> {
  const { content, isError } = (await (tool.execute as (input: unknown, context?: ToolContext) => Awaitable<unknown>)(
    input,
  )) as ToolExecutionResult;
  return isError === true ? { content, isError } : { content };
}

function failure(content: string): ToolExecutionResult {
  return { content, isError: true };
}
