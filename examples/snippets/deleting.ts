import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { ExtensionRegistry } from 'keelson/extension';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

const model = scriptedModel(['Yes.']);
const folder = await mkdtemp(join(tmpdir(), 'keelson-deleting-'));

// #region deleting
const registry = new ExtensionRegistry({ state: new FileStateStore({ folder }) });
const store = registry.withState(new FileSessionStore({ folder }));
const agent = new Agent({ model, loaders: [registry], store });
// #endregion
registry.register({ id: 'count', onLlmOutput: (_output, { setState }) => setState('answers', 1) });
{
  await using session = await agent.session({ id: 'bergen' });
  await session.run('Do I need an umbrella?');
}
assert.equal((await registry.stats('bergen')).bytes, 8);

// #region delete
await store.delete('bergen');
// #endregion
assert.equal(await store.load('bergen'), undefined);
assert.equal((await registry.stats('bergen')).bytes, 0);
await rm(folder, { recursive: true });
