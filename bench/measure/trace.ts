import { z } from 'zod';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const TURNS = 30;
const RUNS = 20;
/** The events of such a run, of which a trace has records. */
const TURN_EVENTS = ['turn-start', 'model-start', 'model-end', 'tool-start', 'tool-end', 'turn-end'];
const EVENTS = ['run-start', ...TURN_EVENTS, 'run-end'];

/** CPU time of a run with `trace()`, compared with the same run whose listener passes each event to `JSON.stringify`. */
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
  const run = async (lifecycle: readonly unknown[], hears: boolean) => {
    const model = scriptedModel([...Array.from({ length: TURNS }, () => calls('look', { berth: 'B2' })), 'Done.']);
    const agent = new Agent({ model, tools: [look], lifecycle, maxTurns: TURNS + 2 });
    let length = 0;
    const hear = (event: unknown) => {
      length += JSON.stringify(event).length;
    };
    if (hears) for (const type of EVENTS) agent.on(type, hear);
    await agent.run('Look.');
    return length;
  };
  const timed = async (work: () => unknown) => {
    const start = process.cpuUsage();
    for (let count = 0; count < RUNS; count += 1) await work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / (RUNS * TURNS);
  };
  const rounds: (readonly [hand: number, ours: number])[] = [];
  for (let round = 0; round <= race.rounds * 3; round += 1) {
    const hand = await timed(() => run([], true));
    const ours = await timed(() => run([trace({ to: () => {} })], false));
    // The first round warms up.
    if (round > 0) rounds.push([hand, ours]);
  }
  const of = (side: 0 | 1) => digits(median(rounds.map((round) => round[side])));
  const note = `${of(1)} µs against ${of(0)}`;
  const ratios = rounds.map(([hand, ours]) => ours / hand);
  return [
    figureOf(ratios, { name: 'a turn with a trace, by JSON.stringify of its events', unit: '×', bound: 2, note }),
  ];
}
