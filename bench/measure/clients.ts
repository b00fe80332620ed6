import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hasRedis, startRedis } from '../../test/support/stores/redis-server.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { ask, reply } from '../driver/lane.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const script = fileURLToPath(new URL('../work/chat-wave.mjs', import.meta.url));
const CLIENTS = 500;
const WARM_CLIENTS = 50;
const WARM_WAVES = 2;

/** The cost of one wave of clients. */
interface Cost {
  /** CPU time for a delta of a client, in µs. */
  readonly cpu: number;
  /** The largest resident set of the process, in MB. */
  readonly memory: number;
}

interface Side {
  readonly side: string;
  readonly name: string;
  readonly bounds?: Cost;
}

const SIDES: readonly Side[] = [
  { side: 'none', name: 'without a run log' },
  { side: 'memory', name: 'with a run log in memory', bounds: { cpu: 0.15, memory: 0.3 } },
];
const REDIS: Side = { side: 'redis', name: 'with a run log in Redis' };

/** The cost of 500 clients at once, each with an answer of 200 deltas: `createAgentHandler` against the AI SDK. */
export async function measureClients({ builds, race }: Setting): Promise<Figure[]> {
  const redis = hasRedis ? await startRedis() : undefined;
  const sides = redis === undefined ? SIDES : [...SIDES, REDIS];
  const names = ['ai', ...sides.map(({ side }) => side)];
  const rounds: Map<string, Cost>[] = [];
  try {
    for (let round = 0; round < race.rounds; round++) {
      const costs = new Map<string, Cost>();
      for (const side of names) costs.set(side, await costOf([builds.shipped, side, redis?.url ?? '']));
      rounds.push(costs);
      names.reverse();
    }
  } finally {
    await redis?.remove();
  }
  return sides.flatMap((side) => [
    compare(rounds, side, { part: 'cpu', what: 'CPU time', unit: 'µs a delta' }),
    compare(rounds, side, { part: 'memory', what: 'peak memory', unit: 'MB' }),
  ]);
}

interface Compared {
  readonly part: keyof Cost;
  readonly what: string;
  readonly unit: string;
}

function compare(
  rounds: readonly ReadonlyMap<string, Cost>[],
  { side, name, bounds }: Side,
  { part, what, unit }: Compared,
): Figure {
  const pairs = rounds.map((costs) => [costs.get('ai') as Cost, costs.get(side) as Cost] as const);
  const of = (at: 0 | 1) => digits(median(pairs.map((pair) => pair[at][part])));
  return figureOf(
    pairs.map(([theirs, ours]) => ours[part] / theirs[part]),
    {
      name: `${what} of ${CLIENTS} clients ${name}, against the AI SDK`,
      unit: '×',
      bound: bounds?.[part],
      note: `${of(1)} ${unit} against ${of(0)}`,
    },
  );
}

/** Starts a process for one side, warms it up, and measures one wave. */
async function costOf(args: readonly string[]): Promise<Cost> {
  const child = fork(script, args, { execArgv: [] });
  await reply(child);
  const wave = (clients: number) => ask<Cost>(child, { clients });
  try {
    for (let warm = 0; warm < WARM_WAVES; warm++) await wave(WARM_CLIENTS);
    return await wave(CLIENTS);
  } finally {
    child.disconnect();
  }
}
