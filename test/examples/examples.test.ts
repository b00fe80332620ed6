import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScript } from '../support/examples/run-script.js';
import { hasRedis } from '../support/stores/redis-server.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

describe('S4-NFR3.5, S4-SUM.S, S4-SUM.N: each example runs as a program of its own', () => {
  test('there is one to start with, and several with hooks', () => {
    expect(files).toEqual(expect.arrayContaining(['01-quickstart.ts', '03-lifecycle-hooks.ts']));
    expect(files.length).toBeGreaterThanOrEqual(4);
  });

  test.concurrent.each(files)(
    '%s asserts its own outcome and ends well',
    async (file) => {
      const { code, stdout, stderr } = await runScript(`examples/${file}`);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toBe('');
    },
    60_000,
  );
});

test('S4-NFR2.AC: the example without hooks says exactly what it always said', async () => {
  const { stdout } = await runScript('examples/02-tools-and-streaming.ts');

  expect(stdout.split('\n')).toEqual([
    '… looking for rope',
    '… looking for sail',
    'count: {"article":"rope","number":12}',
    'count: There is no article "sail".',
    'There are 12 ropes. We do not sell sails. (2 turns, 30 tokens)',
    '',
  ]);
}, 60_000);

test('the session in Redis is gone on with by a second process, or the example says that there is no Redis', async () => {
  const { stdout } = await runScript('examples/06-redis-session.ts');
  const without = await runScript('examples/06-redis-session.ts', { env: { PATH: '/nonexistent', REDIS_URL: '' } });

  expect(without).toEqual({ code: 0, stdout: 'No REDIS_URL, no redis-server: nothing done.\n', stderr: '' });
  if (hasRedis) {
    expect(stdout).toBe('first process: I have read 1 messages.\nsecond process: I have read 3 messages.\n');
  }
}, 60_000);
