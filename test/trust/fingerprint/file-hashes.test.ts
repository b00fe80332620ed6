import { lstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FileHashes } from '../../../src/trust/fingerprint/file-hashes.js';

test('the hashes of at most 100,000 files are kept, and those can still be replaced', () => {
  const hashes = new FileHashes();
  const stats = lstatSync(fileURLToPath(import.meta.url), { bigint: true });
  const old = { ...stats, ctimeNs: 1n };
  for (let at = 0; at <= 100_000; at += 1) hashes.put(`${at}`, old as typeof stats, 'first');
  hashes.put('0', old as typeof stats, 'second');

  expect(['0', '99999', '100000'].map((path) => hashes.get(path, old as typeof stats))).toEqual([
    'second',
    'first',
    undefined,
  ]);
});

test('counts the bytes of the files that were hashed', () => {
  const hashes = new FileHashes();
  const path = fileURLToPath(import.meta.url);
  const stats = lstatSync(path, { bigint: true });
  hashes.put(path, stats, 'first');

  expect(hashes.bytes).toBe(Number(stats.size));
});
