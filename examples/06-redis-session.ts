// Starts a session in Redis, and continues it in a second process. Uses REDIS_URL, or starts a redis-server.
import assert from 'node:assert/strict';
import { fork, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createClient } from '@redis/client';
import { Agent, messagesOf } from 'keelson';
import { RedisSessionStore } from 'keelson/redis';
import { says, scriptedModel } from 'keelson/testing';

const { REDIS_URL: url, SOCKET_FOLDER = '', SESSION: id = randomUUID() } = process.env;

function createRedis(folder: string) {
  return createClient(url ? { url } : { socket: { path: `${folder}/redis.sock`, tls: false } });
}

/** Opens the session, asks one question and closes the session. Both processes run this function. */
async function ask(client: ReturnType<typeof createRedis>, question: string): Promise<RedisSessionStore> {
  const model = scriptedModel(({ messages }) => says(`I have read ${messages.length} messages.`));
  // #region redis-session
  // The client reconnects by itself. Without a listener for `error`, the process would end.
  client.on('error', () => {});
  await client.connect();
  const store = new RedisSessionStore({ client, ttlMs: 7 * 24 * 3600 * 1000 });
  const agent = new Agent({ model, store });

  await using session = await agent.session({ id });
  const { text } = await session.run(question);
  // #endregion
  console.log(`${process.argv[2] ?? 'first'} process: ${text}`);
  return store;
}

async function begin(folder: string): Promise<void> {
  const client = createRedis(folder);
  const store = await ask(client, 'Where are we?');
  const env = { ...process.env, SOCKET_FOLDER: folder, SESSION: id };
  const [code] = await once(fork(import.meta.filename, ['second'], { env }), 'exit');
  assert.equal(code, 0);
  assert.equal(messagesOf((await store.load(id))?.entries ?? []).length, 4);
  await store.delete(id);
  client.destroy();
}

if (process.argv[2] === 'second') {
  const client = createRedis(SOCKET_FOLDER);
  await ask(client, 'And where do we go?');
  client.destroy();
} else if (url) await begin('');
else if (spawnSync('redis-server', ['--version']).status !== 0)
  console.log('Skipped: REDIS_URL is not set, and redis-server is not installed.');
else {
  const folder = mkdtempSync(`${tmpdir()}/keelson-`);
  const server = spawn('redis-server', ['--port', '0', '--unixsocket', `${folder}/redis.sock`, '--save', '']);
  await begin(folder).finally(() => server.kill());
  await once(server, 'exit');
  rmSync(folder, { recursive: true });
}
