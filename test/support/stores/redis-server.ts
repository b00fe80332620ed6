import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { describe, expect, test, vi } from 'vitest';
import { freePort } from '../../../examples/host/free-port.js';
import { pause } from '../agent/settle.js';

const WAIT = { timeout: 10_000, interval: 20 };
/** True if redis-server is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Like `describe`. Without redis-server, the tests are skipped, or fail in CI. */
export function describeWithRedis(title: string, tests: () => void): void {
  if (hasRedis) return void describe(title, tests);
  if (process.env.CI === 'true') {
    return void test(title, () => expect.fail('redis-server is not installed: apt-get install redis-server'));
  }
  console.log(`Skipped, since redis-server is not installed: ${title}`);
  describe.runIf(false)(title, tests);
}

/** A redis-server process on a free port, with its own data directory. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** The port of its sentinel. */
  readonly sentinel?: number;
  /** Kills the process. The append-only file stays. */
  kill(): Promise<void>;
  /** Lets the process end by itself. */
  stop(): Promise<void>;
  /** Starts the server again on the same port with the same data. */
  start(): Promise<void>;
  /** Suspends the process with its connections open. */
  freeze(): void;
  /** Resumes the process. */
  thaw(): void;
  /** Kills the process and removes its data. */
  remove(): Promise<void>;
}

export async function startRedis(...args: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-redis-'));
  const port = await freePort();
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args];
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals) => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const server = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async start() {
      child = spawn('redis-server', settings, { stdio: 'ignore' });
      await answers(server.url).catch(async (error) => {
        await server.kill();
        throw error;
      });
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async remove() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** Starts a cluster of one node with all slots. */
export async function startRedisCluster(): Promise<RedisServer> {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  const server = await startRedis(...cluster, '--cluster-port', `${await freePort()}`);
  const client = await createClient({ url: server.url }).connect();
  await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  await vi.waitFor(async () => expect(await client.sendCommand(['CLUSTER', 'INFO'])).toContain('state:ok'), WAIT);
  client.destroy();
  return server;
}

/** Starts a Redis with a sentinel, which knows the Redis as `keelson`. */
export async function startRedisSentinel(): Promise<RedisServer> {
  const master = await startRedis();
  const folder = mkdtempSync(join(tmpdir(), 'keelson-sentinel-'));
  const sentinel = await freePort();
  const file = join(folder, 'sentinel.conf');
  const lines = [`port ${sentinel}`, 'bind 127.0.0.1', `sentinel monitor keelson 127.0.0.1 ${master.port} 1`];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const remove = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
    await master.remove();
  };
  await answers(`redis://127.0.0.1:${sentinel}`).catch(async (error) => {
    await remove();
    throw error;
  });
  return { ...master, sentinel, remove };
}

async function answers(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: 20 } }).on('error', () => {});
  await client.connect();
  // Without functions of the test runner, since the benchmarks start servers too.
  for (const end = Date.now() + WAIT.timeout; ; await pause(WAIT.interval)) {
    const answer = await client.ping().catch((error) => {
      if (Date.now() > end) throw error;
    });
    if (answer !== undefined) break;
  }
  client.destroy();
}
