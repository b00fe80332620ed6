import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent } from 'keelson';
import { migrate } from 'keelson/postgres';
import { scriptedModel } from 'keelson/testing';
import { Pool } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { bundle } from '../../support/process/bundle.js';
import { openStore, type StoreKind } from '../../support/soak/open-store.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';
import { describeWithSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const program = await bundle(fileURLToPath(new URL('../../fixtures/agent/spoken-to.ts', import.meta.url)));

/** Starts an agent in another process, and waits until its tool works. */
async function startAgent(kind: StoreKind, place: string) {
  const child = spawn(process.execPath, [program, kind, place], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines: unknown[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  await until(() => lines[0] === 'working' || child.exitCode !== null);
  return {
    goOn: () => void child.stdin.write('\n'),
    /** Returns the last line of the process. */
    async outcome(): Promise<unknown> {
      await ended;
      return lines.at(-1);
    },
  };
}

function speaks(kind: StoreKind, open: () => Promise<string>): void {
  test('is spoken to, and stopped, from this process', async () => {
    const place = await open();
    const { store, close } = await openStore(kind, place);
    const here = new Agent({ model: scriptedModel([]), store });
    const session = await here.session({ id: 's' });

    const steered = await startAgent(kind, place);
    const [first, second, third] = [await session.send('one'), await session.send('two'), await session.send('three')];
    const changed = [await first.cancel(), await second.edit('zwei')];
    steered.goOn();
    const read = await steered.outcome();
    const states = await Promise.all([first, second, third].map(async (sent) => (await sent.state()).type));
    const stopped = await startAgent(kind, place);
    const hasStopped = await session.stop({ reason: 'enough' });

    expect(changed).toEqual([true, true]);
    expect((read as string[]).slice(2)).toEqual(['tool: call_1=built', 'user: zwei', 'user: three']);
    expect(states).toEqual(['withdrawn', 'joined', 'joined']);
    expect([hasStopped, await stopped.outcome()]).toEqual([true, { code: 'ERR_RUN_ABORTED', cause: 'enough' }]);
    await here.close();
    await close();
  });
}

describe('an agent in another process, over files', () => speaks('file', temporaryFolder));

describeWithSqlite('an agent in another process, over SQLite', () =>
  speaks('sqlite', async () => join(await temporaryFolder(), 'chats.db')),
);

describeWithRedis('an agent in another process, over Redis', () => {
  let server: RedisServer | undefined;
  afterAll(() => server?.remove());
  speaks('redis', async () => {
    server = await startRedis();
    return server.url;
  });
});

describeWithPostgres('an agent in another process, over PostgreSQL', () => {
  let server: PostgresServer | undefined;
  afterAll(() => server?.remove());
  speaks('postgres', async () => {
    server = await startPostgres();
    const pool = new Pool(server.settings);
    await migrate(pool);
    await pool.end();
    return server.url;
  });
});
