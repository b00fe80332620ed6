import { expect, test } from 'vitest';
import { LogCache } from '../../../src/stores/file/cache.js';
import type { LogFile } from '../../../src/stores/file/log.js';

const logOf = (size: number) => ({ size }) as LogFile<unknown>;
const MEGABYTES = 1024 * 1024;

test('the cache evicts the least recently used logs above its limit, but never the last one added', () => {
  const cache = new LogCache();
  const logs = ['a', 'b', 'c'].map((name) => ({ name, log: logOf(20 * MEGABYTES) }));
  for (const { name, log } of logs) cache.put(name, log);
  // After this use of `a`, the least recently used log is `b`.
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

test('the cache also limits the number of small logs', () => {
  const cache = new LogCache();
  for (let index = 0; index < 100_000; index += 1) cache.put(`${index}`, logOf(0));

  expect(cache.take('0')).toBe(undefined);
  expect(cache.take('99999')).toBeDefined();
});
