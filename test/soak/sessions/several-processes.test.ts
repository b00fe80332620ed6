import { migrate } from 'keelson/postgres';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { SharedPlace } from '../../fixtures/ui/chat-process.js';
import { bundle } from '../../support/process/bundle.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { startPostgres } from '../../support/stores/postgres-server.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';
import { chatProgram } from '../../support/ui/several-processes/chat-process.js';
import { RandomChats } from '../../support/ui/several-processes/random-chats.js';

/** `SOAK_SEED=… npm run soak -- several-processes` plans the same chats again. The kills hit other moments. */
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const program = await bundle(chatProgram);
const COUNT = 50;
const title = `${COUNT} chats whose pages are cut, and whose processes are killed, are read without a gap and go on`;

async function playChats(place: SharedPlace): Promise<void> {
  const chats = new RandomChats(program, place, seed);
  await chats.play(COUNT);
  console.log(`${place.kind}: ${JSON.stringify({ seed, ...chats.ends })}`);
  expect(chats.ends.done).toBeGreaterThan(COUNT / 4);
}

describeWithRedis('over Redis', () => {
  test(title, { timeout: 1_200_000 }, async () => {
    const server = await startRedis();
    try {
      await playChats({ kind: 'redis', place: server.url });
    } finally {
      await server.remove();
    }
  });
});

describeWithPostgres('over PostgreSQL', () => {
  test(title, { timeout: 1_200_000 }, async () => {
    const server = await startPostgres();
    try {
      const pool = new Pool(server.settings);
      await migrate(pool);
      await pool.end();
      await playChats({ kind: 'postgres', place: server.url });
    } finally {
      server.remove();
    }
  });
});
