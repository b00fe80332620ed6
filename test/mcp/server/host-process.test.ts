import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mcpServers } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { connected, isGone, raw, readLog, temporaryFolder } from '../../support/mcp/lab.js';
import { bundle } from '../../support/process/bundle.js';

const program = (name: string) => bundle(fileURLToPath(new URL(`../../support/mcp/${name}`, import.meta.url)));
const [hostProgram, withoutSdk] = await Promise.all([program('host.ts'), program('without-sdk.ts')]);

test('sends the version of the package to servers', async () => {
  const log = join(temporaryFolder(), 'log');
  await connected({ servers: { raw: raw({ log }) } });

  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const [first] = readLog(log).flatMap(({ received }) => received ?? []);
  expect(first?.params).toMatchObject({ clientInfo: { name: 'keelson', version } });
});

test('without the SDK, a server is unavailable and its error names the package to install', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [withoutSdk]);

  expect(stdout.trim().split('\n')).toEqual([
    'ERR_PACKAGE_MISSING MCP server "a": The package `@modelcontextprotocol/client` could not be loaded. Install it beside keelson: npm install @modelcontextprotocol/client',
    'unavailable',
  ]);
});

test('a logger that throws does not affect a server', async () => {
  const write = () => {
    throw new Error('full disk');
  };
  const logger = { debug: write, info: write, warn: write, error: write };
  const mcp = mcpServers({ servers: { gone: { command: 'no-such-program' } }, system: { logger } });

  await mcp.connect();

  expect(mcp.status()).toMatchObject([{ state: 'unavailable' }]);
});

test.each(['exit', 'SIGTERM', 'SIGINT'] as const)(
  'ends all servers when the host process ends by %s',
  async (way) => {
    const log = join(temporaryFolder(), 'log');
    const config = raw({ log, trap: true, stay: true });
    const args = [hostProgram, JSON.stringify(config), way];
    const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    if (way !== 'exit') host.kill(way);

    await once(host, 'exit');

    const [{ pid = 0 } = {}] = readLog(log);
    await until(() => isGone(pid));
  },
  20_000,
);
