import { describeValue, HookResultInvalidError, ToolInvalidError } from '../../errors.js';
import { cloneData } from '../../internal/plain-data.js';
import type { ToolSpec } from '../../model/model.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import { toolResult } from '../../tools/tool-result.js';
import type { AgentTool, ToolExecutionResult } from '../plugin.js';

/** Converts a plugin's tool to a tool of the agent. Throws a ToolInvalidError if the tool is invalid. */
export function toTool(tool: AgentTool, origin: string): Tool {
  const { name, description, inputSchema, execute }: Partial<AgentTool> = tool ?? {};
  if (typeof execute !== 'function')
    throw new ToolInvalidError(String(name), `\`execute\` must be a function, got ${describeValue(execute)}`);
  if (inputSchema === undefined)
    throw new ToolInvalidError(String(name), '`inputSchema` must be a JSON Schema or a Zod schema, got undefined');
  return defineTool({
    name,
    description,
    origin,
    input: inputSchema,
    async execute(input) {
      const output: unknown = await tool.execute(input as Record<string, unknown>);
      const result = executionResultOf(output);
      if (result !== undefined) return toolResult(result);
      throw new HookResultInvalidError('a tool of a plugin must return { content: string, isError?: boolean }', output);
    },
  });
}

/** Returns a copy of a tool's name, description and input schema. */
export function shownTool(tool: Tool | undefined): ToolSpec | undefined {
  if (tool === undefined) return undefined;
  const { name, description, inputSchema } = tool;
  return { name, description, inputSchema: cloneData(inputSchema) };
}

/** Returns the part of a tool result that plugins see. */
export function shownResult(result: ToolResult): ToolExecutionResult {
  const content = resultText(result);
  return result.isError === true ? { content, isError: true } : { content };
}

/** Returns the text of a tool result. Plugins do not see images and files. */
export function resultText({ content }: ToolResult): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Copies the tool result that a plugin returned. Undefined if the returned value is not a valid result. */
export function executionResultOf(value: unknown): { content: string; isError?: boolean } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { content, isError } = value as Partial<Record<keyof ToolExecutionResult, unknown>>;
  if (typeof content !== 'string' || (isError !== undefined && typeof isError !== 'boolean')) return undefined;
  return isError ? { content, isError } : { content };
}
