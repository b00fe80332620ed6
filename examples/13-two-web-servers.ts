// Two web servers share conversations in PostgreSQL. Uses DATABASE_URL, or starts a PostgreSQL of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Agent, messagesOf } from 'keelson';
import { migrate, PostgresSessionStore } from 'keelson/postgres';
import { says, scriptedModel } from 'keelson/testing';
import { Pool } from 'pg';
import { startPostgres } from './host/postgres.js';

/** Answers `POST /<session>` with the answer of the agent. Each process runs one such server. */
async function serve(url: string): Promise<void> {
  const model = scriptedModel(({ messages }) => says(`I have read ${messages.length} messages.`));
  // #region postgres-session
  const pool = new Pool({ connectionString: url });
  // The pool connects again by itself. Without a listener for `error`, a restart of the server would end the process.
  pool.on('error', () => {});
  await migrate(pool);
  const store = new PostgresSessionStore({ client: pool, ttlMs: 30 * 24 * 3600 * 1000 });
  const agent = new Agent({ model, store });
  // #endregion

  // #region answer
  /** Waits for the run of another process, and continues from its messages. */
  async function answer(id: string, question: string): Promise<string> {
    await using session = await agent.session({ id });
    return (await session.run(question)).text;
  }
  // #endregion

  const server = createServer((request, response) => {
    void text(request)
      .then((question) => answer(request.url ?? '', question))
      .then((reply) => response.end(reply));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.send?.((server.address() as AddressInfo).port);
  process.once('message', () => {
    server.close();
    server.closeAllConnections();
    process.disconnect();
    void agent.close().then(() => pool.end());
  });
}

interface WebServer {
  readonly child: ChildProcess;
  ask(question: string): Promise<string>;
}

async function startWebServer(url: string, path: string): Promise<WebServer> {
  const child = fork(import.meta.filename, ['serve'], { env: { ...process.env, DATABASE_URL: url } });
  const [port] = await once(child, 'message');
  const ask = async (body: string) => (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })).text();
  return { child, ask };
}

async function talk(url: string): Promise<void> {
  const path = `/${randomUUID()}`;
  const [one, two] = await Promise.all([startWebServer(url, path), startWebServer(url, path)]);
  console.log('first server: ', await one.ask('Where are we?'));
  console.log('second server:', await two.ask('And where do we go?'));

  const together = await Promise.all([one, two].flatMap(({ ask }) => [ask('To the left?'), ask('To the right?')]));
  console.log('both at once: ', together.length, 'answers');
  for (const { child } of [one, two]) {
    const ended = once(child, 'exit');
    child.send('stop');
    assert.deepEqual(await ended, [0, null]);
  }

  const pool = new Pool({ connectionString: url });
  const store = new PostgresSessionStore({ client: pool });
  assert.equal(messagesOf((await store.load(path))?.entries ?? []).length, 12);
  await store.delete(path);
  await pool.end();
}

const { DATABASE_URL: url } = process.env;
const server = url ? undefined : await startPostgres();
if (process.argv[2] === 'serve') await serve(url ?? '');
else if (url) await talk(url);
else if (server === undefined) console.log('Skipped: DATABASE_URL is not set, and PostgreSQL is not installed.');
else await talk(server.url).finally(() => server.stop());
