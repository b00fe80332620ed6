import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mcpServers } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { connected, isGone, raw, readLog, temporaryFolder } from '../../support/mcp/lab.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsx = import.meta.resolve('tsx');

test('sends the version of the package to servers', async () => {
  const log = join(temporaryFolder(), 'log');
  await connected({ servers: { raw: raw({ log }) } });

  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [first] = readLog(log).flatMap(({ received }) => received ?? []);
  expect(first?.params).toMatchObject({ clientInfo: { name: 'keelson', version } });
});

test('without the SDK, a server is unavailable and its error names the package to install', async () => {
  const folder = temporaryFolder();
  const hook = join(folder, 'hook.mjs');
  writeFileSync(
    hook,
    `export const resolve = (specifier, context, next) => {
      if (specifier.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(specifier, context);
    };`,
  );
  const script = join(folder, 'main.mts');
  writeFileSync(
    script,
    `import { register } from 'node:module';
    register(${JSON.stringify(`file://${hook}`)});
    const { mcpServers } = await import(${JSON.stringify(`${root}src/mcp/mcp.ts`)});
    const events = [];
    const mcp = mcpServers({ servers: { a: { command: 'node' } }, system: { logger: { debug() {}, info() {}, error() {}, warn: (text, { code }) => console.log(code, text) } } });
    await mcp.connect();
    console.log(mcp.status()[0].state);`,
  );

  const { stdout } = await promisify(execFile)(process.execPath, ['--import', tsx, script]);

  expect(stdout.trim().split('\n')).toEqual([
    'ERR_PACKAGE_MISSING MCP server "a": The package `@modelcontextprotocol/sdk` could not be loaded. Install it beside keelson: npm install @modelcontextprotocol/sdk',
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
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    mkdirSync(join(folder, 'host'));
    const script = join(folder, 'host', 'main.mts');
    const config = raw({ log, trap: true, stay: true });
    writeFileSync(
      script,
      `const { mcpServers } = await import(${JSON.stringify(`${root}src/mcp/mcp.ts`)});
    const mcp = mcpServers({ servers: { a: ${JSON.stringify(config)} } });
    await mcp.connect();
    console.log('ready');
    if (${JSON.stringify(way)} === 'exit') process.exit(0);
    setInterval(() => {}, 1000);`,
    );
    const host = spawn(process.execPath, ['--import', tsx, script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    if (way !== 'exit') host.kill(way);

    await once(host, 'exit');

    const [{ pid = 0 } = {}] = readLog(log);
    await until(() => isGone(pid));
  },
  20_000,
);
