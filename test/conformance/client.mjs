// Runs one scenario of the MCP conformance suite with the loader of MCP servers.
import { setTimeout as pause } from 'node:timers/promises';
import { mcpServers } from '../../dist/mcp.js';
import { createOAuth } from './oauth-provider.mjs';
import { callsOf, isNew, scenario, url } from './scenario.mjs';

const oauth = scenario.startsWith('auth/') ? createOAuth() : undefined;
const mcp = mcpServers({
  servers: { suite: /** @type {any} */ ({ type: 'http', url, protocol: isNew ? 'auto' : '2025-11-25' }) },
  oauth: () => oauth,
  elicit: () => ({
    action: 'accept',
    content: /** @type {any} */ (scenario.startsWith('sep-2322') ? { confirmed: true } : {}),
  }),
  // The suite runs all scenarios at the same time.
  timeouts: { connectMs: 100_000 },
});
await mcp.connect();
console.log(JSON.stringify(mcp.status()));
const tools = mcp.tools.list();
for (const { name, input } of callsOf(
  tools.map(({ metadata, inputSchema }) => ({ name: metadata.mcpTool, schema: inputSchema })),
)) {
  const call = { signal: new AbortController().signal, progress: () => {} };
  const tool = tools.find(({ metadata }) => metadata.mcpTool === name);
  console.log(name, JSON.stringify(await tool?.execute(input, /** @type {any} */ (call)).catch(String)));
}
if (scenario === 'http-standard-headers') {
  const server = mcp.server('suite');
  for (const { uri } of await server.listResources()) await server.readResource(uri);
  for (const { name } of await server.listPrompts()) await server.getPrompt(name);
}
// The suite checks which connections are opened directly after the response.
await pause(100);
await mcp.close();
