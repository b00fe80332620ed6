import { jsonSchemaChecker } from '../../tools/json-schema.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import type { Tool, ToolContext } from '../../tools/tool.js';
import { toolResult } from '../../tools/tool-result.js';
import { failureText } from '../failure-text.js';
import { toolName } from './name.js';
import { toResult } from './result-content.js';
import type { McpToolSpec } from './spec.js';

/** A tool of an MCP server. */
export interface McpTool extends Tool {
  readonly metadata: McpToolMetadata;
}

/** The name of the server, and the server's own name of the tool. */
export interface McpToolMetadata {
  readonly mcpServer: string;
  readonly mcpTool: string;
  readonly [key: string]: unknown;
}

/** Sends one tool call to a server. Rejects with a typed error, or with the reason of the abort signal. */
export type CallServer = (
  spec: McpToolSpec,
  input: unknown,
  context: Pick<ToolContext, 'signal' | 'progress'>,
) => Promise<Readonly<Record<string, unknown>>>;

/** The server of a tool, with the function that calls it. */
export interface McpToolOwner {
  readonly server: string;
  readonly call: CallServer;
  readonly warn: (problem: string) => void;
}

/**
 * Returns true for a tool of an MCP server.
 *
 * @example
 * const askFirst = approval({ when: ({ tool }) => tool !== undefined && isMcpTool(tool) });
 * const agent = new Agent({ model, lifecycle: [askFirst] });
 */
export function isMcpTool(tool: Tool): tool is McpTool {
  return typeof tool.metadata?.mcpServer === 'string' && typeof tool.metadata.mcpTool === 'string';
}

/** Creates an agent tool from a tool of a server. Its `execute` returns an error result if the call fails. */
export function toMcpTool(spec: McpToolSpec, owner: McpToolOwner): McpTool {
  const { server, call, warn } = owner;
  const checkOutput = spec.outputSchema && jsonSchemaChecker(spec.outputSchema);
  return {
    name: toolName(server, spec.name),
    description: `[MCP server ${JSON.stringify(server)}] ${spec.description}`.trim(),
    inputSchema: spec.inputSchema,
    check: jsonSchemaChecker(spec.inputSchema),
    origin: `mcp:${server}`,
    metadata: { mcpServer: server, mcpTool: spec.name },
    ...(spec.annotations && { annotations: spec.annotations }),
    async execute(input, { signal, progress }) {
      try {
        const result = toResult(await call(spec, input, { signal, progress }));
        if (checkOutput === undefined || result.structured === undefined || result.isError) return toolResult(result);
        const problem = await problemOf(checkOutput, result.structured);
        if (problem === undefined) return toolResult(result);
        // Data that violates the server's own schema is dropped. The text content is kept.
        warn(`${JSON.stringify(spec.name)}: its structured content does not match its output schema: ${problem}`);
        const { structured, ...rest } = result;
        return toolResult(rest);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        return toolResult({ content: failureText(error), isError: true });
      }
    },
  };
}

async function problemOf(check: ReturnType<typeof jsonSchemaChecker>, data: unknown): Promise<string | undefined> {
  try {
    const { issues }: StandardResult<unknown> = await check(data);
    return issues?.[0]?.message;
  } catch (error) {
    return failureText(error);
  }
}
