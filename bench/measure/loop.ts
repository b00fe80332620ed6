import { digits, type Figure, figureOf } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { perRound, type RaceOptions, race } from '../driver/race.js';
import { lanesOf, ratios, type Setting, timeOf, timesNote } from './measurement.js';

interface Comparison {
  readonly name: string;
  readonly work: LaneSpec['work'];
  readonly bound: number;
}

/** The ratio of the library's time to the floor's time for the same work. */
export function compare({ name, work, bound }: Comparison) {
  return async (setting: Setting): Promise<Figure[]> => {
    const rounds = await race(lanesOf(setting, work), manyRounds(setting));
    return [figureOf(ratios(rounds, 1, 0), { name, unit: '×', bound, note: timesNote(rounds, 1, 0) })];
  };
}

/**
 * V8 optimises each process slightly differently. The effect is largest in short runs, which therefore use more
 * processes.
 */
function manyRounds({ race }: Setting): RaceOptions {
  return { ...race, rounds: race.rounds * 4 };
}

/**
 * Fixes the size of the young generation. V8 enlarges it for long runs, although an application runs short and long
 * runs in one process.
 * With V8's default, a turn of the hand-written loop takes 1.2 times as long at 200 turns.
 */
const ONE_HEAP = { nodeFlags: ['--min-semi-space-size=16'] };

/** In one race: 20 tool rounds compared with the floor, and the time per turn at 200 turns compared with 20 turns. */
export async function measureTurns(setting: Setting): Promise<Figure[]> {
  const few = lanesOf(setting, { turns: 20, calls: 1 });
  const many = lanesOf(setting, { turns: 200, calls: 1 });
  const lanes = [...few, ...many].map((lane) => ({ ...lane, ...ONE_HEAP }));
  const rounds = await race(lanes, manyRounds(setting));
  // The final answer counts as a turn.
  const growth = (short: number, long: number) =>
    perRound(rounds, (taken) => perTurn(taken, long, 201) / perTurn(taken, short, 21));
  return [
    figureOf(ratios(rounds, 1, 0), { name: '20 tool rounds', unit: '×', bound: 1.2, note: timesNote(rounds, 1, 0) }),
    figureOf(growth(1, 3), {
      name: 'time per turn, 200 turns against 20',
      unit: '×',
      bound: 1.15,
      note: `by hand ${digits(figureOf(growth(0, 2), { name: '', unit: '×' }).value)}`,
    }),
  ];
}

function perTurn(taken: readonly number[], lane: number, turns: number): number {
  return (taken[lane] as number) / turns;
}

/** A run whose tool runs another agent, compared with both runs one after the other. */
export async function measureNested({ builds, race: options }: Setting): Promise<Figure[]> {
  const work = { turns: 1, calls: 1 };
  const lanes = (['beside', 'inside'] as const).map((nested) => ({ side: builds.shipped, work: { ...work, nested } }));
  const rounds = await race(lanes, options);
  return [figureOf(ratios(rounds, 1, 0), { name: 'a nested call', unit: '×', note: timesNote(rounds, 1, 0) })];
}

/** A stream of 1,000 parts compared with a bare `for await` over the same parts. */
export async function measureStream(setting: Setting): Promise<Figure[]> {
  const deltas = 1000;
  const rounds = await race(
    [...lanesOf(setting, { deltas }), ...lanesOf(setting, { deltas, paced: true }).slice(1)],
    setting.race,
  );
  const perDelta = (lane: number) =>
    `${digits((timeOf(rounds, lane) / deltas) * 1000)} ns per delta against ${digits(timeOf(rounds, 0))}`;
  return [
    figureOf(ratios(rounds, 1, 0), { name: 'stream of 1,000 deltas', unit: '×', bound: 2.5, note: perDelta(1) }),
    figureOf(ratios(rounds, 2, 0), {
      name: 'stream of 1,000 deltas, each in its own tick',
      unit: '×',
      note: perDelta(2),
    }),
  ];
}

/** CPU time of 1,000 concurrent runs whose model takes 5 ms. */
export async function measureConcurrent(setting: Setting): Promise<Figure[]> {
  const lanes = lanesOf(setting, { kind: 'concurrent', turns: 1, calls: 1, delayMs: 5 });
  const rounds = await race(lanes, { ...setting.race, clock: 'cpuUs' });
  const note = `${timesNote(rounds, 1, 0)} of CPU`;
  return [figureOf(ratios(rounds, 1, 0), { name: '1,000 concurrent runs, 5 ms model', unit: '×', bound: 1.5, note })];
}

/** Time to construct an agent. */
export async function measureConstruct(setting: Setting): Promise<Figure[]> {
  const rounds = await race(lanesOf(setting, { kind: 'construct', turns: 1, calls: 1 }).slice(1), setting.race);
  return [
    figureOf(
      perRound(rounds, ([taken]) => taken as number),
      { name: 'construct', unit: 'µs' },
    ),
  ];
}
