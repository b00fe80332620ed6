import { jsonSchemaChecker } from '../../tools/json-schema.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import type { Tool, ToolContext, ToolResult } from '../../tools/tool.js';
import { toolResult } from '../../tools/tool-result.js';
import { failureText } from '../failure-text.js';
import { toolName } from './name.js';
import { toResult } from './result-content.js';
import type { McpToolSpec } from './spec.js';

/** A tool of a server. */
export interface McpTool extends Tool {
  readonly metadata: McpToolMetadata;
}

/** Whose tool it is, and what it is called there. */
export interface McpToolMetadata {
  readonly mcpServer: string;
  readonly mcpTool: string;
  readonly [key: string]: unknown;
}

/** One call of a tool, as a server is asked for it. Rejects with the reason of the signal, or a typed error. */
export type CallServer = (
  spec: McpToolSpec,
  input: unknown,
  context: Pick<ToolContext, 'signal' | 'progress'>,
) => Promise<Readonly<Record<string, unknown>>>;

/** What a server's tool is made with. */
export interface McpToolOwner {
  readonly server: string;
  readonly call: CallServer;
  readonly warn: (problem: string) => void;
}

/**
 * Whether a tool is one of an MCP server's.
 *
 * @example
 * const askFirst = approval({ when: ({ tool }) => tool !== undefined && isMcpTool(tool) });
 * const agent = new Agent({ model, lifecycle: [askFirst] });
 */
export function isMcpTool(tool: Tool): tool is McpTool {
  return typeof tool.metadata?.mcpServer === 'string' && typeof tool.metadata.mcpTool === 'string';
}

/** A server's tool as one of ours. What it gives is marked as a whole result, also where the call failed. */
export function toMcpTool(spec: McpToolSpec, owner: McpToolOwner): McpTool {
  const { server } = owner;
  const checkOutput = spec.outputSchema && jsonSchemaChecker(spec.outputSchema);
  return {
    name: toolName(server, spec.name),
    description: `[MCP server ${JSON.stringify(server)}] ${spec.description}`.trim(),
    inputSchema: spec.inputSchema,
    check: jsonSchemaChecker(spec.inputSchema),
    execute: (input, context) => execute(spec, { ...owner, checkOutput }, { input, context }),
    origin: `mcp:${server}`,
    metadata: { mcpServer: server, mcpTool: spec.name },
    ...(spec.annotations && { annotations: spec.annotations }),
  };
}

type OutputCheck = ReturnType<typeof jsonSchemaChecker> | undefined;

async function execute(
  spec: McpToolSpec,
  owner: McpToolOwner & { readonly checkOutput: OutputCheck },
  { input, context }: { readonly input: unknown; readonly context: ToolContext },
): Promise<ToolResult> {
  const { signal } = context;
  try {
    const result = toResult(await owner.call(spec, input, { signal, progress: context.progress }));
    if (owner.checkOutput === undefined) return toolResult(result);
    const warn = (problem: string) => owner.warn(`${JSON.stringify(spec.name)}: ${problem}`);
    return toolResult(await withSoundData(result, owner.checkOutput, warn));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return toolResult({ content: failureText(error), isError: true });
  }
}

/** Data that is not what the server promised is not passed on as data. Its text is. */
async function withSoundData(
  result: ToolResult,
  check: NonNullable<OutputCheck>,
  warn: (problem: string) => void,
): Promise<ToolResult> {
  if (result.structured === undefined || result.isError) return result;
  const problem = await problemOf(check, result.structured);
  if (problem === undefined) return result;
  warn(`its data does not match its own schema: ${problem}`);
  const { structured, ...rest } = result;
  return rest;
}

async function problemOf(check: NonNullable<OutputCheck>, data: unknown): Promise<string | undefined> {
  try {
    const { issues }: StandardResult<unknown> = await check(data);
    return issues?.[0]?.message;
  } catch (error) {
    return failureText(error);
  }
}
