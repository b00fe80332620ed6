import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

const model = scriptedModel(['In the harbour.', 'To the lighthouse.']);
const folder = await mkdtemp(join(tmpdir(), 'keelson-state-'));

const store = new FileSessionStore({ folder, ttlMs: 7 * 86_400_000 });
const agent = new Agent({ model, store });
await (await agent.session({ id: 'harbour' })).run('Where are we?');
const later = await new Agent({ model, store: new FileSessionStore({ folder }) }).session({ id: 'harbour' });
assert.equal(later.messages.length, 2);

// #region state
const state = new FileStateStore({ folder });
const scope = { extension: 'tides', session: 'harbour' };
const policy = { ttlMs: 3_600_000, sessionTtlMs: 86_400_000, extensionBytes: 10_000_000, sessionBytes: 64_000_000 };

const { stored, evicted } = await state.set(scope, { key: 'high', value: '06:12' }, policy);
const high = await state.get(scope, 'high', policy);
const { bytes } = await state.stats('harbour');
// #endregion
assert.deepEqual({ stored, evicted, high, bytes }, { stored: true, evicted: [], high: '06:12', bytes: 9 });
await rm(folder, { recursive: true });
