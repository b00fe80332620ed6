// The code in docs/trust.md.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { type Approver, createTrustGate } from 'keelson/trust';

const folder = mkdtempSync(join(tmpdir(), 'keelson-gate-'));
const workspaceDir = join(folder, 'workspace');
const stateDir = join(folder, 'state');
for (const path of [workspaceDir, stateDir]) mkdirSync(path);
const plugin = `export default { name: 'flag', tools: [{
  name: 'flag', description: 'Hoists a flag.', inputSchema: { type: 'object' }, execute: () => ({ content: 'hoisted' }),
}] };`;
writeFileSync(join(workspaceDir, 'flag.mjs'), plugin);
writeFileSync(join(workspaceDir, 'harbour.plugins.json'), '{ "plugins": [{ "path": "./flag.mjs" }] }');

const asked: string[] = [];
const ask = ({ item }: { readonly item: { readonly name: string } }) => asked.push(item.name) > 0;

// #region parts
const careful: Approver = ({ parts }) => ({
  declined: parts.filter(({ item }) => item.kind === 'mcp-server').map(({ digest }) => digest),
});
// #endregion
assert.equal(typeof careful, 'function');

// #region gate
const gate = createTrustGate({ appName: 'harbour', workspaceDir, stateDir, approve: ask });
const loaders = [
  shellHooks({ appName: 'harbour', workspaceDir, gate, discover: ['native'] }),
  plugins({ appName: 'harbour', workspaceDir, gate }),
];
// #endregion

const agent = new Agent({ model: scriptedModel([calls('flag'), says('It flies.')]), loaders });
const { messages } = await agent.run('Hoist the flag.');
await agent.close();
rmSync(folder, { recursive: true });

assert.match(JSON.stringify(messages), /"hoisted"/);
assert.equal(asked.length, 2);
