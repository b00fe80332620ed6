import { ToolInvalidError } from '../../errors.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import type { ToolContext } from '../../tools/tool.js';
import { defaultLimits } from '../config/settings.js';
import { type McpTool, toMcpTool } from './mcp-tool.js';
import { readToolSpec } from './spec.js';

/** A server that your own MCP client is connected to. */
export interface McpToolSource {
  /** The name of the server, which becomes part of the tool's name. */
  readonly server: string;
  /** Sends `tools/call` with the server's own name of the tool. Resolves to the result, or rejects. */
  readonly call: (
    name: string,
    input: unknown,
    context: Pick<ToolContext, 'signal' | 'progress'>,
  ) => Promise<Readonly<Record<string, unknown>>>;
  /** Receives a warning if a result does not match the tool's output schema. Default: the console. */
  readonly logger?: Logger | undefined;
}

/**
 * Converts a tool of an MCP server into a tool of an agent, if you have your own MCP client. `definition` is an entry of
 * `tools/list`. A failed call returns an error result. Throws a ToolInvalidError if the definition is invalid.
 *
 * @example
 * const { tools } = await client.listTools();
 * const call: McpToolSource['call'] = (name, input) =>
 *   client.callTool({ name, arguments: input as Record<string, unknown> });
 * const agent = new Agent({ model, tools: tools.map((tool) => wrapMcpTool(tool, { server: 'files', call })) });
 */
export function wrapMcpTool(definition: unknown, { server, call, logger = consoleLogger }: McpToolSource): McpTool {
  const spec = readToolSpec(definition, defaultLimits);
  if ('problem' in spec) {
    const { name } = (definition ?? {}) as { name?: unknown };
    throw new ToolInvalidError(String(name), spec.problem);
  }
  return toMcpTool(spec, {
    server,
    call: ({ name }, input, context) => call(name, input, context),
    warn: (problem) => logger.warn(`MCP server "${server}": ${problem}`),
  });
}
