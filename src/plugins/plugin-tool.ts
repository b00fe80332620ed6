import { HookResultInvalidError } from '../errors.js';
import type { ToolSpec } from '../model/model.js';
import { defineTool } from '../tools/define-tool.js';
import type { Tool } from '../tools/tool.js';
import { toolResult } from '../tools/tool-result.js';
import { copyData } from './copy-data.js';
import type { AgentTool, ToolExecutionResult } from './plugin.js';

/** A plugin's tool as the loop takes it. Throws ToolInvalidError where it cannot be used. */
export function toTool(tool: AgentTool, origin: string): Tool {
  const { name, description, inputSchema } = tool;
  return defineTool({
    ...{ name, description, origin, input: inputSchema },
    async execute(input) {
      const result: unknown = await tool.execute(input as Record<string, unknown>);
      if (!isExecutionResult(result)) {
        throw new HookResultInvalidError('a tool of a plugin returns { content: string, isError?: boolean }', result);
      }
      return toolResult({ content: result.content, ...(result.isError === true && { isError: true }) });
    },
  });
}

/** What the model is told of a tool, for whoever is not to change it. */
export function shownTool(tool: Tool | undefined): ToolSpec | undefined {
  if (tool === undefined) return undefined;
  const { name, description, inputSchema } = tool;
  return { name, description, inputSchema: copyData(inputSchema) };
}

/** Whether a value can stand as the result of a plugin's tool. */
export function isExecutionResult(value: unknown): value is ToolExecutionResult {
  if (typeof value !== 'object' || value === null) return false;
  const { content, isError } = value as Partial<Record<keyof ToolExecutionResult, unknown>>;
  return typeof content === 'string' && (isError === undefined || typeof isError === 'boolean');
}
