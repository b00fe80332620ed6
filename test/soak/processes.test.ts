import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { remaining, sh } from '../support/process/sh.js';

const programs = [
  'exit 0',
  'cat; exit 3',
  'sleep 60 & echo $!',
  'echo $$; exec sleep 60',
  'echo $$; kill -9 $$',
  'yes',
  'yes >&2',
  'echo $$; trap "" TERM; sleep 60 & echo $!; wait; sleep 60',
  'exec <&-; echo $$; sleep 60',
];

test('many programs that end in different ways leave no processes, files or listeners', {
  timeout: 600_000,
}, async () => {
  const descriptors = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
  await sh('exit 0');
  const before = descriptors();
  const pids: number[] = [];

  for (let round = 0; round < 40; round++) {
    const startedAt = Date.now();
    const results = await Promise.all(
      programs.flatMap((text, index) => [
        sh(text, { timeoutMs: 100 + index * 10, stdin: 'x'.repeat(1_000_000) }),
        sh(text, { timeoutMs: 60_000, signal: AbortSignal.timeout(50 + index * 7) }),
      ]),
    );
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    for (const { stdout } of results) pids.push(...(stdout.match(/^\d+$/gm) ?? []).map(Number));
  }

  expect(pids.length).toBeGreaterThan(40 * 5);
  expect(await remaining(pids)).toEqual([]);
  expect(descriptors()).toBe(before);
  expect(
    ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'].map(
      (event) =>
        process.listeners(event as 'exit').filter(({ name }) => name.startsWith('onExit') || name === 'onSignal')
          .length,
    ),
  ).toEqual([0, 0, 0, 0, 0]);
});
