// Runs one side of the MCP race in its own process: `node mcp.mjs <package of an SDK, or the URL of a build of keelson/mcp>`.
// A block is a number of calls in sequence to the same tool of the same real server.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [side = ''] = process.argv.slice(2);
const isOld = side === '@modelcontextprotocol/sdk';
const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const config = { command: process.execPath, args: [server, 'stdio'] };
const input = { message: 'hello' };

/** Imports the parts of an SDK that a host needs. */
const SDKS = {
  '@modelcontextprotocol/client': async () => {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    return { client: new Client({ name: 'bench', version: '1' }), Transport: StdioClientTransport };
  },
  '@modelcontextprotocol/sdk': async () => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { client: new Client({ name: 'bench', version: '1' }), Transport: StdioClientTransport };
  },
};

/** @param {any} sdk The client of an SDK, and its transport. */
async function sdkSide({ client, Transport }) {
  await client.connect(new Transport({ ...config, stderr: 'ignore' }));
  await client.listTools();
  // With the options of a host that supports progress and cancellation.
  return async () => {
    const { signal } = new AbortController();
    const options = { signal, onprogress: () => {}, resetTimeoutOnProgress: true };
    const params = { name: 'echo', arguments: input };
    const { content } = await (isOld ? client.callTool(params, undefined, options) : client.callTool(params, options));
    return /** @type {{ text: string }[]} */ (content)[0]?.text;
  };
}

/** @param {string} url */
async function keelsonSide(url) {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const { mcpServers } = await import(url);
  // Both servers run in one session, since the scheduler treats sessions differently on a busy machine.
  /** @type {(command: string, args: readonly string[], options: import('node:child_process').SpawnOptions) => unknown} */
  const beside = (command, args, options) => spawn(command, args, { ...options, detached: false });
  const mcp = mcpServers({ servers: { everything: config }, system: { logger: quiet, spawn: beside } });
  await mcp.connect();
  const tool = mcp.tools.find('echo');
  return async () => {
    const { signal } = new AbortController();
    const { content } = await tool.execute(input, { signal, progress: () => {} });
    return content;
  };
}

const load = SDKS[/** @type {keyof typeof SDKS} */ (side)];
const call = load ? await sdkSide(await load()) : await keelsonSide(side);
if ((await call()) !== 'Echo: hello')
  throw new Error(`The tool call of ${side} must return "Echo: hello", got ${await call()}`);

process.on('message', async (/** @type {{ runs: number }} */ { runs }) => {
  const start = performance.now();
  for (let at = 0; at < runs; at++) await call();
  process.send?.(((performance.now() - start) * 1000) / runs);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
