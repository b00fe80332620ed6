// Gives an agent the tools of a real MCP server. A guard allows only its read-only tools.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, type AgentLifecycle } from 'keelson';
import { isMcpTool, mcpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';

// Starts the installed server on a temporary directory. With npx: command 'npx', args ['-y', …, folder].
const folder = await mkdtemp(join(tmpdir(), 'keelson-example-'));
await writeFile(join(folder, 'tides.txt'), 'High water at six.');
const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));

const mcp = mcpServers({
  servers: { files: { command: process.execPath, args: [server, folder] } },
  waitForServers: true,
});

// #region guard
const readOnly: AgentLifecycle = {
  name: 'read-only',
  onFailure: 'block',
  wrapToolCall(call, next) {
    if (!call.tool || !isMcpTool(call.tool) || call.tool.annotations?.readOnly === true) return next();
    return { content: `Denied: ${call.tool.metadata.mcpTool} may change something.`, isError: true };
  },
};
// #endregion

const model = scriptedModel([
  calls('mcp__files__read_text_file', { path: join(folder, 'tides.txt') }),
  calls('mcp__files__write_file', { path: join(folder, 'pwned.txt'), content: '!' }),
  says('High water is at six. I may not write.'),
]);

await using agent = new Agent({ model, loaders: [mcp], lifecycle: [readOnly] });
const { text, messages } = await agent.run('When is high water? Note it down.');

const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
for (const { name, content } of results) console.log(`${name}: ${content}`);
console.log(
  mcp
    .status()
    .map(({ name, state, toolCount }) => `${name} is ${state}, with ${toolCount} tools`)
    .join(),
);

assert.equal(text, 'High water is at six. I may not write.');
assert.deepEqual(
  results.map(({ content }) => content),
  ['High water at six.', 'Denied: write_file may change something.'],
);
assert.deepEqual(await readdir(folder), ['tides.txt']);
const path = join(folder, 'tides.txt');
// #region without-agent
const files = mcp.server('files');
const { content } = await files.callTool('read_text_file', { path }, { timeoutMs: 5_000 });
await files.restart();
// #endregion
assert.equal(content, 'High water at six.');
await agent.close();
await rm(folder, { recursive: true });
