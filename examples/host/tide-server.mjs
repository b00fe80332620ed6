// An MCP server over stdio with two tools: one waits for a file, the other names the connected host application.
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const [tideFile = ''] = process.argv.slice(2);
const server = new McpServer({ name: 'tides', version: '1.0.0' });

server.registerTool('next_tide', { description: 'Waits for high water.' }, async ({ _meta, sendNotification }) => {
  const params = { progressToken: _meta?.progressToken ?? 0, progress: 0, message: 'waiting for high water' };
  await sendNotification({ method: 'notifications/progress', params });
  while (!existsSync(tideFile)) await setTimeout(20);
  return { content: [{ type: 'text', text: 'High water at 14:20.' }] };
});

server.registerTool('who_asks', { description: 'Names the host application.' }, () => {
  const { name, version } = server.server.getClientVersion() ?? {};
  return { content: [{ type: 'text', text: `${name} ${version}` }] };
});

await server.connect(new StdioServerTransport());
console.error('The tide server is ready.');
