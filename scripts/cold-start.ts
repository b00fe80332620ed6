/**
 * Starts a published MCP server with `npx -y` and an empty npm cache, four times, with the default options of
 * `mcpServers`. Needs a connection to a package registry:
 *
 *     npm run servers:cold -- <package> <arguments>
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { mcpServers } from '../src/mcp/mcp.js';

const ROUNDS = 4;
const LIMIT_MS = 300_000;
const [name = '@modelcontextprotocol/server-everything', ...rest] = process.argv.slice(2);

/** Returns the settings of npm and of the network, without the cache. */
function networkVariables(): Record<string, string> {
  const isNeeded = (key: string) => /^npm_config_(?!cache)|^(https?|no)_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(key);
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (isNeeded(key) && value !== undefined ? [[key, value]] : [])),
  );
}

/** Returns true if the server was connected and listed its tools. */
async function startOnce(round: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-cold-'));
  const env = { ...networkVariables(), npm_config_cache: join(folder, 'cache') };
  const mcp = mcpServers({
    servers: { cold: { command: 'npx', args: ['-y', name, ...rest], env, cwd: folder } },
    waitForServers: true,
    system: { logger: { debug() {}, info() {}, warn: console.log, error: console.log } },
  });
  const begun = performance.now();
  try {
    await mcp.connect();
    // A failed attempt is repeated. npm keeps what the attempt has downloaded.
    while (mcp.status()[0]?.state !== 'connected' && performance.now() - begun < LIMIT_MS) await setTimeout(200);
    const [status] = mcp.status();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(`start ${round}: ${status?.state} after ${seconds} s, ${status?.toolCount} tools`);
    return status?.state === 'connected' && status.toolCount > 0;
  } finally {
    await mcp.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

let started = 0;
for (let round = 1; round <= ROUNDS; round += 1) if (await startOnce(round)) started += 1;
console.log(`${name} with an empty cache: ${started} of ${ROUNDS} starts`);
process.exit(started === ROUNDS ? 0 : 1);
