import { ToolInvalidError } from '../../errors.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import type { ToolContext } from '../../tools/tool.js';
import { defaultLimits } from '../config/settings.js';
import { type McpTool, toMcpTool } from './mcp-tool.js';
import { readToolSpec } from './spec.js';

/** A client of your own, connected to a server. */
export interface McpToolSource {
  /** The server's name: part of the tool's. */
  readonly server: string;
  /** Sends `tools/call` under the server's own name for the tool. Gives the result, or rejects where there is none. */
  readonly call: (
    name: string,
    input: unknown,
    context: Pick<ToolContext, 'signal' | 'progress'>,
  ) => Promise<Readonly<Record<string, unknown>>>;
  /** Told where a result is not what its tool promised. Default: the console. */
  readonly logger?: Logger | undefined;
}

/**
 * A tool of an MCP server as one of an agent, for those who have a client of their own: `definition` is an entry of its
 * `tools/list`. A call that fails gives an error result. Throws a ToolInvalidError where the tool cannot be used.
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
