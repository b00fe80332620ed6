import { expect, test } from 'vitest';
import { LogCache } from '../../../src/stores/file/cache.js';
import type { LogFile } from '../../../src/stores/file/log.js';

const logOf = (size: number) => ({ size }) as LogFile<unknown>;
const MEGABYTES = 1024 * 1024;

test('the logs used longest ago go when all together are too large, and the last one always stays', () => {
  const cache = new LogCache();
  const logs = ['a', 'b', 'c'].map((name) => ({ name, log: logOf(20 * MEGABYTES) }));
  for (const { name, log } of logs) cache.put(name, log);
  // `a` is used again: now `b` is the oldest.
  const a = cache.take('a');
  if (a !== undefined) cache.put('a', a);

  cache.put('d', logOf(10 * MEGABYTES));
  expect(['b', 'c', 'a', 'd'].map((name) => cache.take(name)?.size)).toEqual([
    undefined,
    20 * MEGABYTES,
    20 * MEGABYTES,
    10 * MEGABYTES,
  ]);

  cache.put('huge', logOf(500 * MEGABYTES));
  expect(cache.take('huge')?.size).toBe(500 * MEGABYTES);
  expect(cache.take('huge')).toBe(undefined);
});

test('so many small logs do not pile up', () => {
  const cache = new LogCache();
  for (let at = 0; at < 100_000; at += 1) cache.put(`${at}`, logOf(0));

  expect(cache.take('0')).toBe(undefined);
  expect(cache.take('99999')).toBeDefined();
});
