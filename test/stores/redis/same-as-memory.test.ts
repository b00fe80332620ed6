import { createClient } from '@redis/client';
import { onTestFinished, test } from 'vitest';
import { RedisSessionStore } from '../../../src/stores/redis/redis.js';
import { movableRedis } from '../../support/stores/redis-clock.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';
import { checkSameAsMemory } from '../../support/stores/same-as-memory.js';

const NOW = 1_000_000;

describeWithRedis('the session store of Redis', () => {
  test('gives the answers of the memory store to any sequence of calls', async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const client = await createClient({ url: server.url }).connect();
    const open = async () => {
      await client.flushAll();
      const { send, pass } = movableRedis((args) => client.sendCommand(args), NOW);
      return { store: new RedisSessionStore({ client: { sendCommand: send } }), now: NOW, pass };
    };

    await checkSameAsMemory(open, 200);

    client.destroy();
  }, 120_000);
});
