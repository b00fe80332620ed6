import { readFile } from 'node:fs/promises';
import { createClient } from '@redis/client';
import { Agent, type Entry, MemorySessionStore } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, extensions, MemoryStateStore } from 'keelson/extension';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { RedisSessionStore, RedisStateStore } from 'keelson/redis';
import type { SessionStore, StateStore } from 'keelson/store';
import { scriptedModel } from 'keelson/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/stores/redis-server.js';
import { logIn, temporaryFolder } from '../support/stores/temporary-folder.js';

interface Stores {
  readonly sessions: SessionStore;
  readonly state: StateStore;
}

/** Deletes one of two sessions that have state. Expects that only the state of that session is gone. */
async function deletesState({ sessions, state }: Stores) {
  const registry = new ExtensionRegistry({ state });
  for (const id of ['x', 'y']) {
    registry.register({ id, onLlmOutput: (_output, { setState }) => setState('k', 1) });
  }
  const store = registry.withState(sessions);
  const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry], store });
  for (const id of ['s', 't']) {
    await using session = await agent.session({ id });
    await session.run('go');
  }
  await store.delete('s');

  expect(await sessions.load('s')).toBeUndefined();
  expect(await registry.stats('s')).toEqual({ bytes: 0, extensions: {} });
  expect(await registry.stats('t')).toEqual({ bytes: 4, extensions: { x: 2, y: 2 } });
  await store.delete('s');
  await agent.close();
}

const redact: ExtensionInput = {
  id: 'redact',
  onInputMessages: (messages) =>
    messages.map((message) =>
      message.role === 'user' && typeof message.content === 'string'
        ? { ...message, content: message.content.replaceAll('secret', '***') }
        : message,
    ),
};

const history = Array.from({ length: 10_000 }, (_, index): Entry => {
  const parent = index === 0 ? undefined : `${index - 1}`;
  return { id: `${index}`, parent, at: 1, body: { type: 'message', message: { role: 'user', content: `${index}` } } };
});

/** Returns the bytes that each of three runs over 10,000 stored messages writes. */
async function bytesPerRun(
  sessions: SessionStore,
  id: string,
  settings: { isRedacted: boolean; written: () => Awaitable<number> },
) {
  await sessions.claim(id, { token: 'history', run: 'history', ttlMs: 60_000 });
  await sessions.append(id, { token: 'history', length: 0, entries: history, release: true });
  const loaders = settings.isRedacted ? [extensions([redact])] : [];
  const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders, store: sessions });
  const session = await agent.session({ id });
  const bytes: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const before = await settings.written();
    await session.run('go');
    bytes.push((await settings.written()) - before);
  }
  await agent.close();
  expect((await sessions.load(id))?.entries).toHaveLength(10_006);
  return bytes;
}

type Awaitable<T> = T | Promise<T>;

describe('the deletion of a session deletes the state of its extensions', () => {
  test('in memory', () => deletesState({ sessions: new MemorySessionStore(), state: new MemoryStateStore() }));

  test('in files', async () => {
    const folder = await temporaryFolder();
    await deletesState({ sessions: new FileSessionStore({ folder }), state: new FileStateStore({ folder }) });
  });
});

test('a redactor without a match writes as many bytes to the file of a session as no redactor', async () => {
  const bytes = [];
  for (const isRedacted of [false, true]) {
    const folder = await temporaryFolder();
    const written = async () => (await readFile(await logIn(folder))).length;
    bytes.push(await bytesPerRun(new FileSessionStore({ folder }), 's', { isRedacted, written }));
  }

  expect(bytes[1]).toEqual(bytes[0]);
  expect(Math.max(...bytes.flat())).toBeLessThan(1_000);
});

describeWithRedis('with Redis', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
  });

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  test('the deletion of a session deletes the state of its extensions', () =>
    deletesState({ sessions: new RedisSessionStore({ client }), state: new RedisStateStore({ client }) }));
});
