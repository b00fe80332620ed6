import { HookResultInvalidError, ToolInvalidError } from '../../errors.js';
import { cloneData } from '../../internal/plain-data.js';
import type { ToolSpec } from '../../model/model.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import { toolResult } from '../../tools/tool-result.js';
import type { AgentTool, ToolExecutionResult } from '../plugin.js';

/** A plugin's tool as the loop takes it. Throws ToolInvalidError where it cannot be used. */
export function toTool(tool: AgentTool, origin: string): Tool {
  const { name, description, inputSchema, execute }: Partial<AgentTool> = tool ?? {};
  if (typeof execute !== 'function') throw new ToolInvalidError(String(name), '`execute` is no function');
  return defineTool({
    ...{ name, description, origin, input: inputSchema },
    async execute(input) {
      const output: unknown = await tool.execute(input as Record<string, unknown>);
      const result = executionResultOf(output);
      if (result !== undefined) return toolResult(result);
      throw new HookResultInvalidError('a tool of a plugin returns { content: string, isError?: boolean }', output);
    },
  });
}

/** What the model is told of a tool, for whoever is not to change it. */
export function shownTool(tool: Tool | undefined): ToolSpec | undefined {
  if (tool === undefined) return undefined;
  const { name, description, inputSchema } = tool;
  return { name, description, inputSchema: cloneData(inputSchema) };
}

/** The text of a result; pictures and files are no business of plugins. */
export function resultText({ content }: ToolResult): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** A copy of the result in what a plugin gave, or nothing where there is none. */
export function executionResultOf(value: unknown): { content: string; isError?: boolean } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { content, isError } = value as Partial<Record<keyof ToolExecutionResult, unknown>>;
  if (typeof content !== 'string' || (isError !== undefined && typeof isError !== 'boolean')) return undefined;
  return { content, ...(isError === true && { isError }) };
}
