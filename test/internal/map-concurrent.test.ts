import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapConcurrent } from '../../src/internal/map-concurrent.js';

test('returns results in the order of the items, and respects the concurrency limit', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrent(
    [5, 1, 3, 0, 2],
    async (ms) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(ms);
      running -= 1;
      return ms * 10;
    },
    2,
  );

  expect(results).toEqual([50, 10, 30, 0, 20]);
  expect(most).toBe(2);
});

test('starts no further item after a failure', async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await sleep(1);
    throw new RangeError(`${item}`);
  };

  await expect(mapConcurrent([1, 2, 3, 4, 5, 6], work, 2)).rejects.toThrow(RangeError);
  await sleep(5);

  expect(begun).toEqual([1, 2]);
});
