import { ToolInvalidError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import type { Tool, ToolContext, ToolResult } from '../../tools/tool.js';
import { toolResult } from '../../tools/tool-result.js';
import { type CheckArguments, defaultLimits } from '../config/settings.js';
import { type BoundedCheck, boundedCheck } from '../schema/bounded-check.js';
import { failureText } from '../server-log.js';
import { coerceArguments } from './coerce.js';
import { toolName } from './name.js';
import { toResult } from './result-content.js';
import { type McpToolSpec, readToolSpec } from './spec.js';

/** A tool of an MCP server. */
export interface McpTool extends Tool {
  readonly metadata: McpToolMetadata;
  readonly execute: NonNullable<Tool['execute']>;
  /**
   * Checks the arguments as the option `checkArguments` says. A check against the schema runs in a worker thread. Rejects
   * with the reason of the abort signal.
   */
  check(input: unknown, signal?: AbortSignal): StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** The name of the server, and the server's own name of the tool. */
interface McpToolMetadata {
  readonly mcpServer: string;
  readonly mcpTool: string;
  readonly [key: string]: unknown;
}

/** Sends a call to a server, by the server's own name of the tool. Rejects with a typed error, or with the reason of the abort signal. */
export type CallServer = (
  name: string,
  input: unknown,
  context: CallContext,
) => Promise<Readonly<Record<string, unknown>>>;

export interface CallContext extends Pick<ToolContext, 'signal' | 'progress'> {
  readonly limitMs?: number | undefined;
}

export interface McpToolOwner {
  readonly server: string;
  readonly call: CallServer;
  readonly warn: (problem: string) => void;
  /** Returns how arguments are checked. Called for each call. Default: `strict`. */
  readonly checkArguments?: () => CheckArguments;
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

export type CallTool = (input: unknown, context: CallContext) => Promise<ToolResult>;

/** Returns a function that calls one tool. Removes structured data that does not match the tool's output schema. */
export function toolCaller(spec: McpToolSpec, { call, warn }: McpToolOwner): CallTool {
  const checkOutput = spec.outputSchema && boundedCheck(spec.outputSchema);
  return async (input, context) => {
    const answer = await call(spec.name, input, context);
    const result = toResult(answer);
    if (checkOutput === undefined || result.structured === undefined || result.isError) return result;
    const problem = await problemOf(checkOutput, result.structured, context.signal);
    if (problem === undefined) return result;
    warn(`The structured content of tool ${JSON.stringify(spec.name)} does not match its output schema: ${problem}`);
    return toResult(answer, false);
  };
}

/**
 * Converts a server's tool to a tool of an agent. Each result is marked with `toolResult`, also after a failed call.
 */
export function toMcpTool(spec: McpToolSpec, owner: McpToolOwner): McpTool {
  const { server } = owner;
  const call = toolCaller(spec, owner);
  return {
    name: toolName(server, spec.name),
    description: `[MCP server ${JSON.stringify(server)}] ${spec.description}`.trim(),
    inputSchema: spec.inputSchema,
    check: argumentCheck(spec.inputSchema, owner),
    origin: `mcp:${server}`,
    metadata: { mcpServer: server, mcpTool: spec.name },
    annotations: spec.annotations,
    async execute(input, { signal, progress }) {
      try {
        return toolResult(await call(input, { signal, progress }));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        return toolResult({ content: failureText(error), isError: true });
      }
    },
  };
}

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
    call,
    warn: (problem) => logger.warn(`MCP server "${server}": ${problem}`),
  });
}

/**
 * Returns the check of the arguments. With `strict`, it compares them with the schema. Otherwise it only requires an
 * object, and the server checks the rest. With `coerce`, it converts the arguments first.
 */
function argumentCheck(schema: JsonSchema, { checkArguments }: McpToolOwner): McpTool['check'] {
  const check = boundedCheck(schema);
  return (input, signal) => {
    const mode = checkArguments?.() ?? 'strict';
    if (mode === 'strict') return check(input, signal);
    const value = mode === 'coerce' ? coerceArguments(schema, input) : input;
    return isObject(value) ? { value } : { issues: [{ message: 'The arguments must be an object.' }] };
  };
}

async function problemOf(check: BoundedCheck, data: unknown, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { issues }: StandardResult<unknown> = await check(data, signal);
    return issues?.[0]?.message;
  } catch (error) {
    signal.throwIfAborted();
    return failureText(error);
  }
}
