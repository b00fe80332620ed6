import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Agent, textOf } from '../../src/index.js';
import { type McpTool, mcpServers } from '../../src/mcp/mcp.js';
import { calls, says, scriptedModel } from '../../src/testing/testing.js';
import type { Reached } from './reach.js';

/** The arguments of a tool call. */
export type Input = Readonly<Record<string, unknown>>;

/** A call, and its arguments altered in several ways. */
export interface Calls {
  readonly tool: string;
  readonly inputs: readonly Input[];
}

/** The answer to one call. A call that is refused without a result has an error as its answer. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
}

/** A tool as the server lists it. */
export interface Listed {
  readonly name: string;
  readonly inputSchema: Input;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}

/** The tools and answers that the SDK's client gets from a server. */
export interface SeenBySdk extends Calls {
  readonly listed: readonly Listed[];
  readonly answers: readonly Answer[];
}

/** The tools and answers that Keelson gets from a server. `result` comes from `callTool`, `answers` come from runs. */
export interface SeenByKeelson {
  readonly tools: readonly McpTool[];
  readonly result: Answer;
  readonly answers: readonly Answer[];
}

/** A logger without output. */
export const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Lists the tools and makes the calls with the SDK's client. `callsFor` chooses the calls by the listed tools. */
export async function seeWithSdk(
  { transport }: Reached,
  callsFor: (listed: readonly Listed[]) => Calls,
): Promise<SeenBySdk> {
  const client = new Client({ name: 'comparison', version: '1.0.0' });
  try {
    await client.connect(transport());
    const listed: Listed[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      listed.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const { tool, inputs } = callsFor(listed);
    const answers: Answer[] = [];
    for (const input of inputs) {
      answers.push(
        await client.callTool({ name: tool, arguments: input }).then(
          ({ content, isError }) => ({ isError: isError === true, text: textIn(content) }),
          (error: Error) => ({ isError: true, text: error.message }),
        ),
      );
    }
    return { listed, tool, inputs, answers };
  } finally {
    await client.close().catch(() => {});
  }
}

function textIn(content: unknown): string {
  return (content as { text?: string }[]).map(({ text }) => text ?? '').join('');
}

/** Lists the tools and makes the same calls with `mcpServers`. Throws an error if the server is not connected. */
export async function seeWithKeelson(id: string, { entry }: Reached, { tool, inputs }: Calls): Promise<SeenByKeelson> {
  const mcp = mcpServers({
    servers: { [id]: entry },
    waitForServers: true,
    reconnect: false,
    system: { logger: SILENT },
  });
  try {
    await mcp.connect();
    const { state, lastError } = mcp.status()[0] ?? {};
    if (state !== 'connected') throw new TypeError(`${state}: ${lastError}`);
    const result = await mcp
      .server(id)
      .callTool(tool, inputs[0] ?? {})
      .then(
        ({ content, isError }) => ({
          isError: isError === true,
          text: typeof content === 'string' ? content : textIn(content),
        }),
        (error: Error) => ({ isError: true, text: error.message }),
      );
    const answers: Answer[] = [];
    for (const input of inputs) answers.push(await answerInRun(mcp, tool, input));
    return { tools: mcp.tools.list(), result, answers };
  } finally {
    await mcp.close();
  }
}

async function answerInRun(mcp: ReturnType<typeof mcpServers>, tool: string, input: Input): Promise<Answer> {
  const own = mcp.tools.list().find(({ metadata }) => metadata.mcpTool === tool);
  const model = scriptedModel([calls(own?.name ?? '', input), says('done')]);
  const loader = { name: 'mcp', load: (host: Parameters<typeof mcp.load>[0]) => mcp.load(host) };
  const agent = new Agent({ model, loaders: [loader], logger: SILENT });
  const { messages } = await agent.run('go');
  const message = messages.find(({ role }) => role === 'tool');
  return {
    isError: JSON.stringify(message).includes('"isError":true'),
    text: message === undefined ? '' : textOf(message),
  };
}
