import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const script = fileURLToPath(new URL('../work/mcp.mjs', import.meta.url));
const withoutNewSdk = fileURLToPath(new URL('../../test/conformance/without-new-sdk.mjs', import.meta.url));
/** Both SDKs, and the options of Node with which the library finds only that one. */
const SDKS = [
  { sdk: '@modelcontextprotocol/client', execArgv: [] },
  { sdk: '@modelcontextprotocol/sdk', execArgv: ['--import', withoutNewSdk] },
];
const CALLS = 100;
/** Pairs of processes per round. One process of a pair stays up to a fifth faster than the other for its lifetime. */
const PAIRS = 5;

/**
 * Wall time of a tool call to a real MCP server, by the library over each SDK compared with `callTool` of that SDK. The
 * server takes most of the time.
 */
export async function measureMcp(setting: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const lane of SDKS) figures.push(await measureOver(lane, setting));
  return figures;
}

async function measureOver({ sdk, execArgv }: (typeof SDKS)[number], { builds, race }: Setting): Promise<Figure> {
  const ours = builds.shipped.replace(/index\.js$/, 'mcp.js');
  const ratios: number[] = [];
  const times: number[][] = [];
  for (let round = 0; round < PAIRS * race.rounds; round++) {
    const passes = await raceOnce({ sides: [sdk, ours], execArgv }, Math.ceil(race.passes / 2));
    ratios.push(median(passes.map(([theirs = 0, own = 0]) => own / theirs)));
    times.push(...passes);
  }
  const of = (side: number) => digits(median(times.map((pass) => pass[side] as number)));
  const note = `${of(1)} µs against ${of(0)}`;
  return figureOf(ratios, {
    name: `a call of an MCP tool over stdio, against \`${sdk}\``,
    unit: '×',
    bound: 1.3,
    note,
  });
}

async function raceOnce(
  { sides, execArgv }: { readonly sides: readonly string[]; readonly execArgv: string[] },
  passes: number,
): Promise<number[][]> {
  const children = sides.map((side) => fork(script, [side], { execArgv }));
  await Promise.all(children.map((child) => once(child, 'message')));
  for (const child of children) for (let warm = 0; warm < 10; warm++) await block(child);
  const taken: number[][] = [];
  for (let pass = 0; pass < passes; pass++) {
    const order = pass % 2 === 0 ? [0, 1] : [1, 0];
    const times: number[] = [];
    for (const side of order) times[side] = await block(children[side] as ChildProcess);
    taken.push(times);
  }
  for (const child of children) child.disconnect();
  return taken;
}

async function block(child: ChildProcess): Promise<number> {
  child.send({ runs: CALLS });
  const [us] = await once(child, 'message');
  return us;
}
