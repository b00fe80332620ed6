// Loads an extension package of the workspace with a hook, an MCP server, settings and two skills.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { calls, says, scriptedModel } from 'keelson/testing';

const folder = mkdtempSync(join(tmpdir(), 'harbour-'));
const [workspaceDir, userDir] = [join(folder, 'workspace'), join(folder, 'home')];
const source = fileURLToPath(new URL('./extensions/harbour', import.meta.url));
cpSync(source, join(workspaceDir, '.harbour-app/extensions/harbour'), { recursive: true });

const model = scriptedModel([
  calls('skill', { name: 'harbour:berth' }),
  calls('skill', { name: 'harbour:berth', file: 'references/berths.md' }),
  calls('mcp__harbour-tides__moor', { ship: 'Batavia', draught: 14 }),
  calls('mcp__harbour-tides__moor', { ship: 'Batavia', draught: 6 }),
  says('The Batavia lies at the north quay.'),
]);
const env = { ...process.env, PILOT_TOKEN: 'token-of-ada' };

// #region load
const extensions = manifests({
  appName: 'harbour-app',
  workspaceDir,
  userDir,
  env,
  approve({ item, argv }) {
    console.log(`Approved: ${item.kind} ${item.name} ${argv.join(' ')}`);
    return true;
  },
});
const agent = new Agent({ model, loaders: [extensions] });
await agent.ready();
// #endregion
// `ready()` waits at most one second for each MCP server. `connect()` waits until the server is connected.
await extensions.mcp.connect();

// #region invoke
const { text, messages } = await agent.run(await extensions.skills.invoke('arrival', { ship: 'Batavia' }));
// #endregion
const { extensions: listed } = extensions.status();
console.log(listed.map(({ name, scope, state }) => `${name} (${scope}) is ${state}`).join('\n'));
await agent.close();
rmSync(folder, { recursive: true, force: true });

const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
assert.equal(text, 'The Batavia lies at the north quay.');
assert.equal(listed[0]?.state, 'active');
assert.match(String(results[0]?.content), /Read references\/berths.md/);
assert.match(String(results[1]?.content), /South quay: 12 m/);
assert.match(String(results[2]?.content), /deeper than 10 m/);
assert.equal(results[3]?.content, 'Batavia is moored, for the pilot [redacted].');
