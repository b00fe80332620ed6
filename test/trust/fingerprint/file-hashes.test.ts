import { lstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
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

test.each([
  ['100 ms', 5_000_000_001n, 5_100_000_001n],
  ['2 s on a file system with whole seconds', 5_000_000_000n, 7_000_000_000n],
])('a hash is kept if the file has not changed for %s', (_case, ctimeNs, settledNs) => {
  const now = vi.spyOn(Date, 'now');
  onTestFinished(() => now.mockRestore());
  const stats = { ...lstatSync(fileURLToPath(import.meta.url), { bigint: true }), ctimeNs };
  const isKeptAt = (ms: number) => {
    now.mockReturnValue(ms);
    const hashes = new FileHashes();
    hashes.put('a', stats as never, 'hash');
    return hashes.get('a', stats as never) === 'hash';
  };
  const settledMs = Number(settledNs / 1_000_000n);

  expect([settledMs - 1, settledMs + 1].map(isKeptAt)).toEqual([false, true]);
});
