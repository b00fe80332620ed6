import { createClient } from '@redis/client';
import type * as Extensions from '../../src/extension/extension.js';
import type * as Keelson from '../../src/index.js';
import type * as RedisStores from '../../src/stores/redis/redis.js';
import { hasRedis, startRedis } from '../../test/support/stores/redis-server.js';
import type { Figure } from '../driver/figure.js';
import { ANSWER, fakeModel } from '../work/script.mjs';
import type { Setting } from './measurement.js';

const RUNS = 20;
const EXTENSIONS = 5;
const HOUR_MS = 3_600_000;

/** The commands that a run sends to Redis if each of its extensions reads and writes state. */
export async function measureState(setting: Setting): Promise<Figure[]> {
  if (!hasRedis) return [];
  const server = await startRedis();
  const client = await createClient({ socket: { port: server.port } }).connect();
  const measure = (name: string, sessionTtlMs: number) => countCommands(setting, client, { name, sessionTtlMs });
  try {
    return [
      await measure('round trips of a run', 24 * HOUR_MS),
      await measure('round trips of a run, values that live as long as their session', HOUR_MS),
    ];
  } finally {
    client.destroy();
    await server.remove();
  }
}

async function countCommands(
  { builds }: Setting,
  client: { sendCommand(args: string[]): Promise<unknown> },
  { name, sessionTtlMs }: { readonly name: string; readonly sessionTtlMs: number },
): Promise<Figure> {
  const load = (file: string) => import(new URL(file, builds.shipped).href);
  const { Agent }: typeof Keelson = await load('index.js');
  const { ExtensionRegistry }: typeof Extensions = await load('extension.js');
  const { RedisStateStore }: typeof RedisStores = await load('redis.js');
  let commands = 0;
  const counting = {
    sendCommand(args: string[]) {
      commands += 1;
      return client.sendCommand(args);
    },
  };
  const state = new RedisStateStore({ client: counting, prefix: `${sessionTtlMs}` });
  const registry = new ExtensionRegistry({ state, ttlMs: HOUR_MS, sessionTtlMs, logger: silent });
  for (let index = 0; index < EXTENSIONS; index += 1) registry.register(counterOf(`extension-${index}`));
  const session = await new Agent({ model: fakeModel(ANSWER), loaders: [registry] }).session({ id: 's' });
  await session.run('go');
  commands = 0;
  for (let run = 0; run < RUNS; run += 1) await session.run('go');
  return { name: `${EXTENSIONS} extensions with state in Redis: ${name}`, value: commands / RUNS, unit: '', bound: 3 };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function counterOf(id: string): Extensions.ExtensionInput {
  return {
    id,
    async onLlmOutput(_output, { getState, setState }) {
      await setState('count', ((await getState<number>('count')) ?? 0) + 1);
    },
  };
}
