import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mcpServers } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { pause, unhandledDuring } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { everythingOverHttp } from '../support/mcp/everything.js';
import { call, isGone, lab, raw, readLog, stateOf, temporaryFolder } from '../support/mcp/lab.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the used heap in bytes after garbage collection. */
async function heldBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect();
    await pause(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Returns the active handles, open files and process listeners. */
function resources(): { readonly handles: string; readonly files: number; readonly listeners: number } {
  const events = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'beforeExit', 'warning'];
  return {
    handles: process
      .getActiveResourcesInfo()
      .filter((name) => name !== 'Timeout')
      .sort()
      .join(),
    files: readdirSync('/proc/self/fd').length,
    listeners: events.reduce((sum, event) => sum + process.listenerCount(event), 0),
  };
}

/** Waits up to 30 seconds for a condition, since a busy machine starts servers slowly. */
async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!condition() && Date.now() < end) await pause(1);
  expect(condition()).toBe(true);
}

test('a server that is killed repeatedly during calls leaves no processes, handles or listeners', {
  timeout: 300_000,
}, async () => {
  const log = join(temporaryFolder(), 'log');
  const before = resources();
  const { mcp } = lab({
    servers: { raw: raw({ log }), other: raw() },
    reconnect: { initialDelayMs: 1, maxDelayMs: 2 },
  });
  await mcp.connect();
  const count = 200;
  const problems: string[] = [];

  const unhandled = await unhandledDuring(async () => {
    for (let round = 1; round <= count; round++) {
      await until(() => stateOf(mcp, 'raw') === 'connected');
      const calling = call(mcp, round % 2 === 0 ? 'mcp__raw__hang' : 'mcp__raw__die');
      if (round % 2 === 0) {
        await pause(round % 7);
        process.kill(readLog(log).findLast(({ pid }) => pid)?.pid ?? 0, 'SIGKILL');
      }
      const { isError } = await calling;
      if (!isError) problems.push(`round ${round}: no error`);
      if (mcp.tools.find('mcp__raw__echo') && stateOf(mcp, 'raw') !== 'connected')
        problems.push(`round ${round}: tools of a disconnected server`);
      if (round % 20 === 0 && (await call(mcp, 'mcp__other__echo')).isError)
        problems.push(`round ${round}: error of the other server`);
    }
    await until(() => stateOf(mcp, 'raw') === 'connected');
    expect((await call(mcp, 'mcp__raw__echo')).content).toBe('echo: {}');
    expect(mcp.status()[0]?.reconnects).toBe(count);
    await mcp.close();
  });

  expect([problems, unhandled]).toEqual([[], []]);
  const pids = readLog(log).flatMap(({ pid }) => pid ?? []);
  expect(pids).toHaveLength(count + 1);
  expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  await pause(50);
  expect(resources()).toEqual(before);
});

test.each(['streamableHttp', 'sse'] as const)(
  'repeated connecting and closing over %s does not grow heap, handles and listeners',
  { timeout: 600_000 },
  async (mode) => {
    await using server = await everythingOverHttp(mode);
    const once = async () => {
      const logger = keepingLogger();
      const mcp = mcpServers({
        servers: { a: { type: mode === 'sse' ? 'sse' : 'http', url: server.url } },
        system: { logger },
      });
      await mcp.connect();
      const { content } = await call(mcp, 'echo', { message: 'x' });
      await mcp.close();
      return content;
    };
    // Warm-up: compiled code and caches do not count as growth.
    for (let round = 0; round < 110; round++) await once();
    const before = { ...resources(), bytes: await heldBytes() };
    const count = 500;

    for (let round = 0; round < count; round++) expect(await once()).toBe('Echo: x');

    const after = { ...resources(), bytes: await heldBytes() };
    expect(after.listeners).toBe(before.listeners);
    // `fetch` keeps a few idle sockets for the next request.
    expect(after.files - before.files).toBeLessThan(10);
    // One twentieth of the memory of a connection.
    expect((after.bytes - before.bytes) / count).toBeLessThan(4_000);
  },
);
