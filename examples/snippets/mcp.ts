import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { type McpServersOptions, mcpServers } from 'keelson/mcp';
import { scriptedModel } from 'keelson/testing';

const model = scriptedModel(['Hello.']);
const workspaceDir = await mkdtemp(join(tmpdir(), 'keelson-snippet-'));
await writeFile(
  join(workspaceDir, '.mcp.json'),
  '{ "mcpServers": { "docs": { "command": "node", "args": ["docs.js"] } } }',
);

// #region many
const options: McpServersOptions = {
  servers: {
    files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
    issues: {
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: `Bearer ${process.env.ISSUES_TOKEN}` },
      includeTools: ['list_*', 'get_issue'],
    },
  },
  timeouts: { connectMs: 10_000, installMs: 240_000, callMs: 60_000, totalMs: 600_000 },
};
// #endregion
assert.equal(mcpServers(options).status().length, 2);

const terminal = { ask: async (_question: string) => false };
// #region workspace
const mcp = mcpServers({
  workspaceDir,
  approve: ({ item, argv, files, unbound }) =>
    terminal.ask(`Start ${item.name}: ${JSON.stringify({ argv, files, unbound, reads: item.reads })}?`),
});
const agent = new Agent({ model, loaders: [mcp] });
await agent.ready();
const waiting = mcp.status().filter(({ state }) => state !== 'connected');
// #endregion
assert.deepEqual(
  waiting.map(({ name, toolCount }) => [name, toolCount]),
  [['docs', 0]],
);
await agent.close();
await rm(workspaceDir, { recursive: true });

const form = { fill: async (_message: string, _schema: unknown) => undefined as Record<string, string> | undefined };
// #region asking
const asking = mcpServers({
  elicit: async ({ server, message, schema }) => {
    const content = await form.fill(`${server} asks: ${message}`, schema);
    return content ? { action: 'accept', content } : { action: 'decline' };
  },
  roots: [{ uri: 'file:///home/me/project', name: 'project' }],
});
// #endregion
await asking.close();
