// Runs one scenario of the MCP conformance suite with the loader of MCP servers.
import { setTimeout as pause } from 'node:timers/promises';
import { mcpServers } from '../../dist/mcp.js';
import { createOAuth } from './oauth-provider.mjs';

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const url = process.argv.at(-1) ?? '';

/** Inputs for the tools of the suite. */
const INPUTS = { add_numbers: { a: 5, b: 3 } };

const oauth = scenario.startsWith('auth/') ? createOAuth(scenario, url, context) : undefined;
const mcp = mcpServers({
  servers: { suite: { type: 'http', url } },
  oauth: () => oauth,
  elicit: () => ({ action: 'accept', content: {} }),
});
await mcp.connect();
console.log(JSON.stringify(mcp.status()));
for (const tool of mcp.tools.list()) {
  const input = INPUTS[/** @type {keyof typeof INPUTS} */ (tool.metadata.mcpTool)] ?? {};
  const call = { signal: new AbortController().signal, progress: () => {} };
  console.log(tool.name, JSON.stringify(await tool.execute(input, /** @type {any} */ (call))));
}
// The suite checks which connections are opened directly after the response.
await pause(100);
await mcp.close();
