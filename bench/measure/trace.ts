import { z } from 'zod';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const TURNS = 30;
const RUNS = 20;

/** The time that `trace()` adds to a run with 30 tool rounds, compared with `JSON.stringify` of the same records. */
export async function measureTrace({ builds, race }: Setting): Promise<Figure[]> {
  const { Agent, defineTool } = await import(builds.shipped);
  const { trace } = await import(builds.shipped.replace(/index\.js$/, 'trace.js'));
  const { calls, scriptedModel } = await import(builds.shipped.replace(/index\.js$/, 'testing.js'));
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ berth: z.string() }),
    execute: () => 'The berth is free until Friday. '.repeat(20),
  });
  const run = async (lifecycle: readonly unknown[]) => {
    const model = scriptedModel([...Array.from({ length: TURNS }, () => calls('look', { berth: 'B2' })), 'Done.']);
    await new Agent({ model, tools: [look], lifecycle, maxTurns: TURNS + 2 }).run('Look.');
  };
  const lines: string[] = [];
  await run([trace({ to: (line: string) => lines.push(line) })]);
  const records = lines.map((line) => JSON.parse(line));
  const timed = async (work: () => unknown) => {
    const start = performance.now();
    for (let count = 0; count < RUNS; count += 1) await work();
    return ((performance.now() - start) * 1_000) / (RUNS * records.length);
  };
  const rounds: (readonly [added: number, json: number])[] = [];
  for (let round = 0; round <= race.rounds * 3; round += 1) {
    const without = await timed(() => run([]));
    const traced = await timed(() => run([trace({ to: () => {} })]));
    const json = await timed(() => records.map((record) => JSON.stringify(record)));
    // The first round warms up.
    if (round > 0) rounds.push([traced - without, json]);
  }
  const note = `${digits(median(rounds.map(([added]) => added)))} µs a record against ${digits(median(rounds.map(([, json]) => json)))}`;
  const ratios = rounds.map(([added, json]) => added / json);
  return [figureOf(ratios, { name: 'a record of a trace, by JSON.stringify', unit: '×', bound: 2, note })];
}
