/**
 * Compares published MCP servers through `mcpServers` with the client of the MCP SDK: tools, schemas, results, and calls
 * with altered arguments. Uses stdio, and also HTTP and SSE if a server offers them. The servers are npm packages in a folder outside of this project, so that no script downloads
 * anything:
 *
 *     npm install --ignore-scripts --prefix <folder> <packages>
 *     npm run servers -- <folder> [packages]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent } from '../src/index.js';
import { type McpTool, mcpServers } from '../src/mcp/mcp.js';
import { toWireRequest as toAnthropic } from '../src/providers/anthropic/request.js';
import { toWireRequest as toOpenAI } from '../src/providers/openai/chat/request.js';
import { calls, says, scriptedModel } from '../src/testing/testing.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-servers-'));
const key = 'x'.repeat(32);

interface Published {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A call without effects outside of the scratch folder. */
  readonly call?: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
  /** How the server is started for HTTP and SSE. `PORT` stands for the number of a free port. */
  readonly remote?: readonly Remote[];
}

interface Remote {
  readonly type: 'http' | 'sse';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly path: string;
}

/** A server that reads its port from a variable. */
const portVariable = (type: Remote['type'], path: string, env: Readonly<Record<string, string>> = {}): Remote => ({
  ...{ type, path },
  env: { PORT: 'PORT', ...env },
});

/** Servers that start without a network, by package. The keys in the variables are invalid. */
const SERVERS: Readonly<Record<string, Published>> = {
  '@modelcontextprotocol/server-everything': {
    args: ['stdio'],
    call: { tool: 'get-sum', input: { a: 2, b: 3 } },
    remote: [
      { ...portVariable('http', '/mcp'), args: ['streamableHttp'] },
      { ...portVariable('sse', '/sse'), args: ['sse'] },
    ],
  },
  '@modelcontextprotocol/server-filesystem': {
    args: [scratch],
    call: { tool: 'list_directory', input: { path: scratch } },
  },
  '@modelcontextprotocol/server-memory': {
    env: { MEMORY_FILE_PATH: join(scratch, 'memory.jsonl') },
    call: { tool: 'search_nodes', input: { query: 'tide' } },
  },
  '@modelcontextprotocol/server-sequential-thinking': {
    call: {
      tool: 'sequentialthinking',
      input: { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    },
  },
  '@modelcontextprotocol/server-github': { env: { GITHUB_PERSONAL_ACCESS_TOKEN: key } },
  '@modelcontextprotocol/server-gitlab': { env: { GITLAB_PERSONAL_ACCESS_TOKEN: key } },
  '@modelcontextprotocol/server-slack': { env: { SLACK_BOT_TOKEN: key, SLACK_TEAM_ID: 'T0' } },
  '@modelcontextprotocol/server-brave-search': { env: { BRAVE_API_KEY: key } },
  '@modelcontextprotocol/server-google-maps': { env: { GOOGLE_MAPS_API_KEY: key } },
  '@modelcontextprotocol/server-puppeteer': {},
  '@modelcontextprotocol/server-postgres': { args: ['postgresql://127.0.0.1:9/none'] },
  '@modelcontextprotocol/server-everart': { env: { EVERART_API_KEY: key } },
  '@upstash/context7-mcp': {
    remote: [{ type: 'http', args: ['--transport', 'http', '--port', 'PORT'], path: '/mcp' }],
  },
  '@playwright/mcp': {
    remote: [
      { type: 'http', args: ['--port', 'PORT'], path: '/mcp' },
      { type: 'sse', args: ['--port', 'PORT'], path: '/sse' },
    ],
  },
  'mongodb-mcp-server': {
    env: { MDB_MCP_TELEMETRY: 'disabled' },
    remote: [{ type: 'http', args: ['--transport', 'http', '--httpPort', 'PORT'], path: '/mcp' }],
  },
  'n8n-mcp': {
    env: { MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true', N8N_MCP_TELEMETRY_DISABLED: 'true' },
  },
  'firecrawl-mcp': {
    env: { FIRECRAWL_API_KEY: key },
    remote: [
      portVariable('http', '/mcp', { HTTP_STREAMABLE_SERVER: 'true', FIRECRAWL_API_KEY: key }),
      portVariable('sse', '/sse', { SSE_LOCAL: 'true', FIRECRAWL_API_KEY: key }),
    ],
  },
  '@hubspot/mcp-server': { env: { PRIVATE_APP_ACCESS_TOKEN: key } },
  '@notionhq/notion-mcp-server': {
    env: { NOTION_TOKEN: key },
    remote: [{ type: 'http', args: ['--transport', 'http', '--port', 'PORT', '--disable-auth'], path: '/mcp' }],
  },
  'tavily-mcp': { env: { TAVILY_API_KEY: key } },
  'exa-mcp-server': { env: { EXA_API_KEY: key } },
  '@stripe/mcp': { args: ['--tools=all', `--api-key=rk_test_${key}`] },
  '@sentry/mcp-server': { args: [`--access-token=${key}`] },
  '@supabase/mcp-server-supabase': { args: [`--access-token=sbp_${key}`] },
  'chrome-devtools-mcp': {},
  'figma-developer-mcp': {
    args: ['--stdio', `--figma-api-key=${key}`],
    remote: [{ type: 'http', args: ['--port', 'PORT', `--figma-api-key=${key}`], path: '/mcp' }],
  },
  '@wonderwhy-er/desktop-commander': {},
  '@kazuph/mcp-fetch': {},
  'puppeteer-mcp-server': {},
  'mcp-server-kubernetes': {
    remote: [
      portVariable('http', '/mcp', { ENABLE_UNSAFE_STREAMABLE_HTTP_TRANSPORT: '1' }),
      portVariable('sse', '/sse', { ENABLE_UNSAFE_SSE_TRANSPORT: '1' }),
    ],
  },
  '@browsermcp/mcp': {},
};

interface Launch {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** One way to reach a server: for the SDK, and as an entry of `mcpServers`. */
interface Reached {
  readonly transport: () => Transport;
  readonly entry: Readonly<Record<string, unknown>>;
}

function overStdio({ command, args, env }: Launch): Reached {
  return {
    transport: () => new StdioClientTransport({ command, args, env, stderr: 'ignore' }),
    entry: { command, args, env },
  };
}

const START_MS = 30_000;

/** Starts a server on a free port, and calls `use` when the port accepts connections. */
async function overPort(
  { command, args, env }: Launch,
  { type, path }: Remote,
  use: (reached: Reached) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const port = await freePort();
  const withPort = (text: string) => text.replace('PORT', `${port}`);
  const variables = Object.entries(env).map(([name, value]) => [name, withPort(value)]);
  const child = spawn(command, args.map(withPort), {
    ...{ env: Object.fromEntries(variables), stdio: 'ignore' as const, cwd: scratch },
  });
  try {
    const end = Date.now() + START_MS;
    while (!(await accepts(port))) {
      if (child.exitCode !== null || Date.now() > end) return [`does not listen on port ${port}`];
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const url = `http://localhost:${port}${path}`;
    const Sdk = type === 'http' ? StreamableHTTPClientTransport : SSEClientTransport;
    return await use({ transport: () => new Sdk(new URL(url)), entry: { type, url } });
  } finally {
    child.kill('SIGKILL');
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, 'localhost')
      .on('connect', () => resolve(socket.destroy() !== undefined))
      .on('error', () => resolve(false));
  });
}

/** Returns the program of a package, or undefined if the package is not installed. */
function launchOf(
  folder: string,
  name: string,
  { args = [], env = {} }: Omit<Published, 'remote'>,
): Launch | undefined {
  const root = join(folder, 'node_modules', name);
  if (!existsSync(join(root, 'package.json'))) return undefined;
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const path = typeof bin === 'string' ? bin : (bin?.[name.split('/').at(-1) ?? ''] ?? Object.values(bin ?? {})[0]);
  if (path === undefined) return undefined;
  return {
    command: process.execPath,
    args: [join(root, path), ...args],
    env: { HOME: scratch, PATH: process.env.PATH ?? '', ...env },
  };
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Returns the arguments altered in five ways: an unknown key, and each value in another type. */
function alterations(input: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  const changed = (change: (value: unknown) => unknown) =>
    Object.fromEntries(Object.entries(input).map(([name, value]) => [name, change(value)]));
  return [
    { ...input, unknown_key: 1 },
    changed((value) => (typeof value === 'number' ? String(value) : value)),
    changed((value) => (typeof value === 'boolean' ? String(value) : value)),
    changed((value) => (typeof value === 'object' ? JSON.stringify(value) : value)),
    { ...input, optional_null: null },
  ];
}

/** Returns the differences between the two clients, and the refused calls that the server accepts. */
async function compare({ transport, entry }: Reached, { call }: Published): Promise<readonly string[]> {
  const client = new Client({ name: 'comparison', version: '1.0.0' });
  const mcp = mcpServers({
    servers: { s: entry },
    waitForServers: true,
    reconnect: false,
    system: { logger: SILENT },
  });
  try {
    await client.connect(transport());
    await mcp.connect();
    const { state, lastError } = mcp.status()[0] ?? {};
    if (state !== 'connected') return [`${state}: ${lastError}`];
    const listed = (await client.listTools()).tools;
    const problems = [...comparedTools(listed, mcp.tools.list()), ...providerProblems(mcp.tools.list())];
    if (call === undefined) return problems;
    const own = await mcp.server('s').callTool(call.tool, call.input);
    const theirs = await client.callTool({ name: call.tool, arguments: call.input });
    const texts = (theirs.content as { text?: string }[]).map(({ text }) => text ?? '').join('');
    if (own.content !== texts) problems.push(`result of ${call.tool} differs`);
    for (const altered of alterations(call.input)) {
      const accepted = await client.callTool({ name: call.tool, arguments: altered }).then(
        ({ isError }) => !isError,
        () => false,
      );
      if (accepted && !(await isAccepted(mcp, call.tool, altered))) problems.push(`refuses ${JSON.stringify(altered)}`);
    }
    return problems;
  } catch (error) {
    return [`failed: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`];
  } finally {
    await Promise.all([client.close().catch(() => {}), mcp.close()]);
  }
}

async function isAccepted(mcp: ReturnType<typeof mcpServers>, tool: string, input: object): Promise<boolean> {
  const own = mcp.tools.list().find(({ metadata }) => metadata.mcpTool === tool);
  const model = scriptedModel([calls(own?.name ?? '', input), says('done')]);
  const loader = { name: 'mcp', load: (host: Parameters<typeof mcp.load>[0]) => mcp.load(host) };
  const agent = new Agent({ model, loaders: [loader], logger: SILENT });
  const { messages } = await agent.run('go');
  return !JSON.stringify(messages.find(({ role }) => role === 'tool')).includes('"isError":true');
}

interface Listed {
  readonly name: string;
  readonly inputSchema: object;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}

/** A tool that can be called only as a task is left out on purpose. */
function comparedTools(listed: readonly Listed[], own: readonly McpTool[]): string[] {
  return listed.flatMap(({ name, inputSchema, execution }) => {
    if (execution?.taskSupport === 'required') return [];
    const tool = own.find(({ metadata }) => metadata.mcpTool === name);
    if (tool === undefined) return [`tool ${name} is missing`];
    return isDeepStrictEqual(tool.inputSchema, inputSchema) ? [] : [`schema of ${name} differs`];
  });
}

/** Tests the tools of a request against the documented rules of OpenAI and Anthropic. */
function providerProblems(tools: readonly McpTool[]): string[] {
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const openAI = toOpenAI(
    { messages, tools },
    { model: 'gpt-5-mini', maxTokensField: 'max_tokens', server: 'openai', logger: SILENT },
  );
  const anthropic = toAnthropic({ messages, tools }, 'claude-sonnet-5', SILENT);
  const sent = (openAI.tools ?? []) as { function: { name: string; parameters: Fields } }[];
  const others = (anthropic.tools ?? []) as { name: string; input_schema: Fields }[];
  const problems = sent.flatMap(({ function: { name, parameters } }) => [
    ...(/^[\w-]{1,64}$/.test(name) ? [] : [`OpenAI: name ${name}`]),
    ...(parameters.type === 'object' ? [] : [`OpenAI: root of ${name}`]),
    ...(arraysHaveItems(parameters) ? [] : [`OpenAI: an array of ${name} has no items`]),
  ]);
  if (sent.length > 128) problems.push('OpenAI: more than 128 tools');
  for (const { name, input_schema: schema } of others) {
    if (!/^[\w-]{1,128}$/.test(name)) problems.push(`Anthropic: name ${name}`);
    const keys = Object.keys((schema.properties ?? {}) as object);
    if (!keys.every((property) => /^[\w.-]{1,64}$/.test(property))) problems.push(`Anthropic: keys of ${name}`);
    if (['anyOf', 'oneOf', 'allOf'].some((word) => word in schema)) problems.push(`Anthropic: root of ${name}`);
  }
  return problems;
}

type Fields = Readonly<Record<string, unknown>>;

function arraysHaveItems(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(arraysHaveItems);
  if (typeof node !== 'object' || node === null) return true;
  const { type, items } = node as Fields;
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return !(isArray && items === undefined) && Object.values(node).every(arraysHaveItems);
}

const [folder, ...chosen] = process.argv.slice(2);
if (folder === undefined) {
  console.error(`Usage: npm run servers -- <folder>\nPackages: ${Object.keys(SERVERS).join(' ')}`);
  process.exit(2);
}
let equal = 0;
let different = 0;
let absent = 0;

function report(name: string, over: string, problems: readonly string[]): void {
  if (problems.length === 0) equal += 1;
  else different += 1;
  const lines = problems.map((problem) => `\n  ${problem}`).join('');
  console.log(`${problems.length === 0 ? 'equal' : 'DIFFERENT'} ${name} over ${over}${lines}`);
}

for (const [name, server] of Object.entries(SERVERS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const launch = launchOf(folder, name, server);
  if (launch === undefined) {
    absent += 1;
    continue;
  }
  report(name, 'stdio', await compare(overStdio(launch), server));
  for (const remote of server.remote ?? []) {
    const program = launchOf(folder, name, remote) as Launch;
    const start = (use: (reached: Reached) => Promise<readonly string[]>) => overPort(program, remote, use);
    // Some servers accept one client, so each client gets a process.
    const pair = ({ transport }: Reached) => start(({ entry }) => compare({ transport, entry }, server));
    report(name, remote.type, await start(pair));
  }
}
console.log(`${equal} equal, ${different} different; ${absent} packages are not installed`);
process.exit(0);
