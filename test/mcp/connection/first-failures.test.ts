import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isPackageRunner } from '../../../src/mcp/config/launch.js';
import { until } from '../../support/agent/settle.js';
import { connected, lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

/** Writes a script `npx` that runs `before` and then starts the scripted server. */
function npx(folder: string, before: string, config = {}): string {
  const { command, args = [] } = raw(config);
  const path = join(folder, 'npx');
  const start = [command, ...args].map((word) => `'${word}'`).join(' ');
  writeFileSync(path, `#!/bin/sh\necho start >> '${join(folder, 'starts')}'\n${before}\nexec ${start}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('a server whose first attempt to connect fails', () => {
  test('is started again after a pause, and its tools join', async () => {
    const folder = temporaryFolder();
    const command = npx(folder, `[ $(wc -l < '${join(folder, 'starts')}') -ge 3 ] || { echo 'not yet' >&2; exit 1; }`);
    const { mcp, logger } = await connected({ servers: { late: { command, args: ['-y', 'late'] } } });

    expect(mcp.status()[0]?.lastError).toContain('not yet');
    await until(() => stateOf(mcp, 'late') === 'connected');

    expect(mcp.tools.list()).not.toEqual([]);
    expect(mcp.status()[0]).toMatchObject({ reconnects: 0, lastError: undefined });
    // The second failure is equal to the first.
    expect(logger.lines.filter((line) => line.startsWith('error:'))).toHaveLength(1);
  });

  test('becomes unavailable for good after `reconnect.maxRetries`', async () => {
    const folder = temporaryFolder();
    const command = npx(folder, 'exit 1');
    const reconnect = { initialDelayMs: 1, maxDelayMs: 2, maxRetries: 2 };
    const { logger } = await connected({ servers: { broken: { command } }, reconnect });

    await until(() => logger.lines.some((line) => line.includes('no further attempt')));

    expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('start\n'.repeat(3));
  });

  test('is not started again if the failure is permanent', async () => {
    const { mcp, logger } = await connected({ servers: { gone: { command: 'no-such-program' } } });

    expect(stateOf(mcp, 'gone')).toBe('unavailable');
    expect(logger.lines.filter((line) => line.includes('no further attempt'))).toEqual([]);
  });
});

describe('a server that a package runner installs', () => {
  test('is shown as installing, then as connected', async () => {
    const folder = temporaryFolder();
    const go = join(folder, 'go');
    const command = npx(folder, `while [ ! -e '${go}' ]; do sleep 0.02; done`);
    const { mcp } = lab({ servers: { slow: { command, args: ['-y', 'slow'] } } });
    const connecting = mcp.connect();
    await until(() => existsSync(join(folder, 'starts')));

    expect(mcp.status()[0]).toMatchObject({ state: 'connecting', step: 'installing' });
    writeFileSync(go, '');
    await connecting;

    expect(mcp.status()[0]).toMatchObject({ state: 'connected', step: undefined });
  });

  test('fails with an error that names the option', async () => {
    const command = npx(temporaryFolder(), 'sleep 30');
    const { mcp } = await connected({
      servers: { slow: { command, args: ['-y', 'slow'] } },
      timeouts: { connectMs: 200, installMs: 100 },
      reconnect: false,
    });

    expect(mcp.status()[0]?.lastError).toBe(
      'The connection to MCP server "slow" took longer than 300 ms. Raise `timeouts.installMs` if the server needs more time.',
    );
  });

  test('whose list of tools takes too long fails with an error that names the limit of the list', async () => {
    const command = npx(temporaryFolder(), '', { nag: true });
    const { mcp } = await connected({
      servers: { slow: { command, args: ['-y', 'slow'] } },
      timeouts: { connectMs: 200, installMs: 60_000 },
      reconnect: false,
    });

    expect(mcp.status()[0]?.lastError).toBe(
      'The request tools/list to MCP server "slow" took longer than 200 ms. Raise `timeouts.connectMs` if the server needs more time.',
    );
  });

  test('may take longer than `connectMs`', async () => {
    const command = npx(temporaryFolder(), 'sleep 0.5');
    const servers = { slow: { command, args: ['-y', 'slow'] } };
    const { mcp } = await connected({ servers, timeouts: { connectMs: 200 }, reconnect: false });

    expect(mcp.status()[0]).toMatchObject({ state: 'connected', reconnects: 0 });
  });
});

test.each([
  ['npx', ['-y', 'a'], true],
  ['/usr/bin/npx', [], true],
  ['C:\\node\\npx.cmd', ['a'], true],
  ['cmd', ['/c', 'npx', '-y', 'a'], true],
  ['cmd', ['/c', 'node', 'npx'], false],
  ['uv', ['tool', 'run', 'a'], true],
  ['docker', ['run', '-i', 'a'], true],
  ['node', ['server.js'], false],
  ['constructor', [], false],
])('tells if a command may install a package: %s %j', (command, args, expected) => {
  expect(isPackageRunner(command, args)).toBe(expected);
});
