import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScript } from '../support/examples/run-script.js';
import { hasPostgres } from '../support/stores/postgres-server.js';
import { hasRedis } from '../support/stores/redis-server.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
// host.test.ts runs example 12.
const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== '12-host.ts');

describe('S4-NFR3.5, S4-SUM.S, S4-SUM.N: each example runs as a program of its own', () => {
  test('there are a quickstart and several examples with hooks', () => {
    expect(files).toEqual(expect.arrayContaining(['01-quickstart.ts', '03-lifecycle-hooks.ts']));
    expect(files.length).toBeGreaterThanOrEqual(4);
  });

  // covers: S4-NFR2.AC
  test.concurrent.each(files)('%s asserts its own outcome and exits with code 0', async (file) => {
    const { code, stdout, stderr } = await runScript(`examples/${file}`, { env: OWN_SERVERS });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
    if (printed[file] !== undefined) expect(stdout.split('\n')).toEqual(printed[file]);
  });
});

/** Examples start their own servers, if these variables name none. */
const OWN_SERVERS = { DATABASE_URL: '', REDIS_URL: '' };

/** The output of examples, as far as they do not assert it themselves. */
const printed: Readonly<Record<string, readonly string[]>> = {
  // This example has no hooks.
  '02-tools-and-streaming.ts': [
    '… looking for rope',
    '… looking for sail',
    'count: {"article":"rope","number":12}',
    'count: There is no article "sail".',
    'There are 12 ropes. We do not sell sails. (2 turns, 30 tokens)',
    '',
  ],
  '17-terminal.ts': ['Ask about the Aurora, and add something while the agent works.', '> '],
  '18-approval-inside.ts': ['"pay" needs approval. clerk calls pay({"amount":40}) [y/N] The call was denied.', ''],
  ...(hasRedis && {
    '06-redis-session.ts': ['first process: I have read 1 messages.', 'second process: I have read 3 messages.', ''],
  }),
  ...(hasPostgres && {
    '13-two-web-servers.ts': [
      'first server:  I have read 1 messages.',
      'second server: I have read 3 messages.',
      'both at once:  4 answers',
      '',
    ],
    '16-dbos.ts': ['DBOS waits for pay.', 'The fee is paid.', ''],
  }),
};

test('the example of Redis prints that Redis is missing', async () => {
  const without = await runScript('examples/06-redis-session.ts', { env: { PATH: '/nonexistent', REDIS_URL: '' } });

  expect(without).toEqual({
    code: 0,
    stdout: 'Skipped: REDIS_URL is not set, and redis-server is not installed.\n',
    stderr: '',
  });
});
