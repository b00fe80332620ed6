import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const script = fileURLToPath(new URL('../work/ui.mjs', import.meta.url));
const DELTAS = 2_000;
const RESPONSES = 5;
const WARM_RESPONSES = 10;

/** A chat server in its own process. */
interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

/** CPU time of the server for each delta of an answer: `createAgentHandler` against a route written by hand. */
export async function measureUi({ builds, race }: Setting): Promise<Figure[]> {
  const ui = builds.shipped.replace(/index\.js$/, 'ui.js');
  const ratios: number[] = [];
  const times: (readonly [hand: number, ours: number])[] = [];
  for (let round = 0; round < race.rounds; round++) {
    const [hand, ours] = await Promise.all(['hand', ui].map((side) => start(builds.shipped, side)));
    const passes: (readonly [hand: number, ours: number])[] = [];
    for (let pass = 0; pass < race.passes; pass++)
      passes.push([await block(hand as Server), await block(ours as Server)]);
    ratios.push(median(passes.map(([byHand, byHandler]) => byHandler / byHand)));
    times.push(...passes);
    hand?.child.disconnect();
    ours?.child.disconnect();
  }
  const of = (side: 0 | 1) => digits(median(times.map((pass) => pass[side])));
  const note = `${of(1)} µs against ${of(0)}`;
  return [figureOf(ratios, { name: 'a delta through the HTTP handler, by hand', unit: '×', bound: 1.5, note })];
}

async function start(core: string, side: string): Promise<Server> {
  const child = fork(script, [core, side], { execArgv: [] });
  const [port] = await once(child, 'message');
  const server = { child, url: `http://127.0.0.1:${port}/chat` };
  for (let warm = 0; warm < WARM_RESPONSES; warm++) await answer(server);
  return server;
}

/** Returns the CPU time of the server for a delta, in µs. */
async function block(server: Server): Promise<number> {
  const before = await cpuOf(server);
  for (let count = 0; count < RESPONSES; count++) await answer(server);
  return ((await cpuOf(server)) - before) / (RESPONSES * DELTAS);
}

async function cpuOf({ child }: Server): Promise<number> {
  child.send('cpu');
  const [{ user, system }] = await once(child, 'message');
  return user + system;
}

async function answer({ url }: Server): Promise<void> {
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const response = await fetch(url, { ...init, body: JSON.stringify({ id: crypto.randomUUID(), messages }) });
  const text = await response.text();
  const written = text.match(/word \d+ /g)?.length;
  if (written !== DELTAS) throw new TypeError(`The answer must have ${DELTAS} words, got ${written}`);
}
