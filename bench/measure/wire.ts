import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const script = fileURLToPath(new URL('../work/wire.mjs', import.meta.url));

const APIS = [
  { api: 'chat', name: 'a delta of chat completions', bound: 0.6 },
  { api: 'messages', name: 'a delta of Anthropic', bound: 1.6 },
  { api: 'responses', name: 'a delta of the Responses API', bound: 1 },
];

/** CPU time per text delta of a streamed response over loopback, compared with the iteration of the official client. */
export async function measureWire({ builds, race }: Setting): Promise<Figure[]> {
  const folder = builds.shipped.replace(/\/index\.js$/, '');
  const figures: Figure[] = [];
  for (const { api, name, bound } of APIS) {
    const times = await raceOf([folder, api], race.rounds * 2);
    const rounds = times.map(([official = 0, own = 0]) => own / official);
    const of = (side: number) => digits(median(times.map((pass) => pass[side] as number)));
    const note = `${of(1)} µs against ${of(0)}`;
    figures.push(figureOf(rounds, { name: `${name}, against the official client`, unit: '×', bound, note }));
  }
  return figures;
}

async function raceOf(args: readonly string[], rounds: number): Promise<number[][]> {
  const child = fork(script, args, { execArgv: [] });
  await once(child, 'message');
  const times: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    child.send(round % 2 === 0 ? [0, 1] : [1, 0]);
    const [taken] = await once(child, 'message');
    times.push(taken);
  }
  child.disconnect();
  return times;
}
