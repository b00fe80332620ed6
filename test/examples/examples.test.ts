import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScript } from '../support/examples/run-script.js';
import { hasPostgres } from '../support/stores/postgres-server.js';
import { hasRedis } from '../support/stores/redis-server.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

describe('S4-NFR3.5, S4-SUM.S, S4-SUM.N: each example runs as a program of its own', () => {
  test('there are a quickstart and several examples with hooks', () => {
    expect(files).toEqual(expect.arrayContaining(['01-quickstart.ts', '03-lifecycle-hooks.ts']));
    expect(files.length).toBeGreaterThanOrEqual(4);
  });

  test.concurrent.each(files)(
    '%s asserts its own outcome and exits with code 0',
    async (file) => {
      const { code, stdout, stderr } = await runScript(`examples/${file}`);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toBe('');
    },
    60_000,
  );
});

test('S4-NFR2.AC: the example without hooks prints exactly the expected lines', async () => {
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

test('a second process continues the session in Redis, or the example prints that Redis is missing', async () => {
  const { stdout } = await runScript('examples/06-redis-session.ts');
  const without = await runScript('examples/06-redis-session.ts', { env: { PATH: '/nonexistent', REDIS_URL: '' } });

  expect(without).toEqual({
    code: 0,
    stdout: 'Skipped: REDIS_URL is not set, and redis-server is not installed.\n',
    stderr: '',
  });
  if (hasRedis) {
    expect(stdout).toBe('first process: I have read 1 messages.\nsecond process: I have read 3 messages.\n');
  }
}, 60_000);

test.runIf(hasPostgres)(
  'two web servers continue one session in PostgreSQL, also with questions at the same time',
  async () => {
    const { stdout } = await runScript('examples/13-two-web-servers.ts', { env: { DATABASE_URL: '' } });

    expect(stdout.split('\n')).toEqual([
      'first server:  I have read 1 messages.',
      'second server: I have read 3 messages.',
      'both at once:  4 answers',
      '',
    ]);
  },
  60_000,
);

test.runIf(hasPostgres)(
  'a run in DBOS goes on in a second process after an approval, and after a kill of the first process',
  async () => {
    const { stdout } = await runScript('examples/16-dbos.ts', { env: { DATABASE_URL: '' } });

    expect(stdout.split('\n')).toEqual(['DBOS waits for pay.', 'The fee is paid.', '']);
  },
  60_000,
);
