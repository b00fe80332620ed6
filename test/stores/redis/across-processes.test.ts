import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import { RedisSessionStore, RedisStateStore } from '../../../src/stores/redis/redis.js';
import { bytesInRedis } from '../../support/stores/bytes-in-redis.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';

const program = fileURLToPath(new URL('../../fixtures/stores/redis-writer.ts', import.meta.url));
const COUNT = 500;

interface Writer {
  readonly ready: Promise<void>;
  readonly outcome: Promise<{ conflicts: number; evicted: number; most: number }>;
}

function startWriter(...args: readonly string[]): Writer {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ready = lines.next().then(({ value }) => expect(value).toBe('ready'));
  return { ready, outcome: ready.then(() => lines.next()).then(({ value }) => JSON.parse(value)) };
}

describeWithRedis('two processes on one Redis', () => {
  test('lose and repeat no entries of a shared session, and never exceed its limits', async () => {
    const server = await startRedis();
    const client = await createClient({ url: server.url }).connect();
    const writers = [
      startWriter('ioredis', `${server.port}`, 'one', `${COUNT}`),
      startWriter('@redis/client', `${server.port}`, 'two', `${COUNT}`),
    ];
    await Promise.all(writers.map(({ ready }) => ready));
    await client.set('go', '1');
    const sizes: number[] = [];
    const watch = setInterval(() => void bytesInRedis(client).then((bytes) => sizes.push(bytes)), 2);

    const outcomes = await Promise.all(writers.map(({ outcome }) => outcome));
    clearInterval(watch);

    const { entries = [] } = (await new RedisSessionStore({ client }).load('s')) ?? {};
    const texts = entries.map(({ id }) => id);
    for (const name of ['one', 'two']) {
      expect(texts.filter((text) => text.startsWith(name))).toEqual(
        Array.from({ length: COUNT }, (_, index) => `${name} ${index}`),
      );
    }
    expect(texts).toHaveLength(2 * COUNT);
    expect(outcomes.every(({ conflicts }) => conflicts > 0)).toBe(true);

    const { bytes, extensions } = await new RedisStateStore({ client }).stats('s');
    expect(bytes).toBe(await bytesInRedis(client));
    expect(bytes).toBe((extensions.x0 ?? 0) + (extensions.x1 ?? 0));
    for (const { most, evicted } of outcomes) {
      expect(most).toBeLessThanOrEqual(1000);
      expect(evicted).toBeGreaterThan(0);
    }
    expect(sizes.length).toBeGreaterThan(20);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
    client.destroy();
    await server.remove();
  }, 60_000);
});
