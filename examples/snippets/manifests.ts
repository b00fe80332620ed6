import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { loadRuntime } from 'keelson/runtime';
import { says, scriptedModel } from 'keelson/testing';

const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
const [workspaceDir, userDir] = [join(folder, 'ws'), join(folder, 'home')];
mkdirSync(join(userDir, 'extensions/tides'), { recursive: true });
mkdirSync(workspaceDir);
const settings = [{ name: 'token', description: 'The token.', required: true, sensitive: true }];
const manifest = { name: 'tides', version: '1.0.0', description: 'Tides.', settings };
writeFileSync(join(userDir, 'extensions/tides/manifest.json'), JSON.stringify(manifest));
const model = scriptedModel(() => says('At noon.'));

const lines: unknown[] = [];
const logger = { debug() {}, info: (line: unknown) => void lines.push(line), warn() {}, error() {} };
const extensions = manifests({ workspaceDir, userDir, logger, skillFolders: [] });
const agent = new Agent({ model, loaders: [extensions] });
await agent.ready();
assert.deepEqual(extensions.status().extensions[0]?.reasons, ['it needs the setting token']);

// #region configure
await extensions.configure({ theme: 'dark', extensions: { tides: { token: 'abc-123' } } });

const { extensions: values } = extensions.config as { extensions: { tides: { token: string } } };
extensions.redactingLogger(logger).info(`The token is ${values.tides.token}.`); // The token is [redacted].
// #endregion
assert.deepEqual(lines, ['The token is [redacted].']);
assert.deepEqual(extensions.enabledNames(), ['tides']);

// #region disable
await extensions.disable('tides');
// #endregion
assert.deepEqual(extensions.enabledNames(), []);
await agent.close();

const approve = () => false;
const cwd = workspaceDir;
{
  await using runtime = await loadRuntime({ appName: 'my-agent', cwd, userDir, approve });
  await using agent = new Agent({ model, ...runtime.agentOptions() });
  await using session = await agent.session();
  const { text } = await session.run('When is high water?');
  assert.equal(text, 'At noon.');
  assert.deepEqual(runtime.status().servers, []);
  // #region reload
  const { servers, diagnostics } = await runtime.reload();
  console.log(servers.added, servers.removed, servers.changed, diagnostics);
  // #endregion
  assert.deepEqual(servers, { added: [], removed: [], changed: [], unchanged: [] });
}
rmSync(folder, { recursive: true, force: true });
