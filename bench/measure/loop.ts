import { digits, type Figure, figureOf } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { perRound, type RaceOptions, race } from '../driver/race.js';
import { lanesOf, ratios, type Setting, timeOf, timesNote } from './measurement.js';

interface Comparison {
  readonly name: string;
  readonly work: LaneSpec['work'];
  readonly bound: number;
}

/** The library's time in the floor's, for the same work. */
export function compare({ name, work, bound }: Comparison) {
  return async (setting: Setting): Promise<Figure[]> => {
    const rounds = await race(lanesOf(setting, work), twice(setting));
    return [figureOf(ratios(rounds, 1, 0), { name, unit: '×', bound, note: timesNote(rounds, 1, 0) })];
  };
}

/** Each process is optimised a little differently, which shows most in a short run: these take more processes. */
function twice({ race }: Setting): RaceOptions {
  return { ...race, rounds: race.rounds * 2 };
}

/**
 * A young generation of one size for all. By itself it grows with what survives, so the long runs would have a larger one
 * than the short ones, which in an application share one: at 200 turns the loop by hand would take 1.2 times as long a turn.
 */
const ONE_HEAP = { nodeFlags: ['--min-semi-space-size=16'] };

/** 20 tool rounds against the floor, and what a turn takes at 200 of them against 20, in one race. */
export async function measureTurns(setting: Setting): Promise<Figure[]> {
  const few = lanesOf(setting, { turns: 20, calls: 1 });
  const many = lanesOf(setting, { turns: 200, calls: 1 });
  const lanes = [...few, ...many].map((lane) => ({ ...lane, ...ONE_HEAP }));
  const rounds = await race(lanes, twice(setting));
  // The answer is a turn too.
  const growth = (short: number, long: number) =>
    perRound(rounds, (taken) => perTurn(taken, long, 201) / perTurn(taken, short, 21));
  return [
    figureOf(ratios(rounds, 1, 0), { name: '20 tool rounds', unit: '×', bound: 1, note: timesNote(rounds, 1, 0) }),
    figureOf(growth(1, 3), {
      name: 'a turn at 200 turns against one at 20',
      unit: '×',
      bound: 1.1,
      note: `by hand ${digits(figureOf(growth(0, 2), { name: '', unit: '×' }).value)}`,
    }),
  ];
}

function perTurn(taken: readonly number[], lane: number, turns: number): number {
  return (taken[lane] as number) / turns;
}

/** A stream of 1,000 parts against a bare `for await` over the same parts. */
export async function measureStream(setting: Setting): Promise<Figure[]> {
  const deltas = 1000;
  const rounds = await race(
    [...lanesOf(setting, { deltas }), ...lanesOf(setting, { deltas, paced: true }).slice(1)],
    setting.race,
  );
  const perDelta = (lane: number) =>
    `${digits((timeOf(rounds, lane) / deltas) * 1000)} ns a delta against ${digits(timeOf(rounds, 0))}`;
  return [
    figureOf(ratios(rounds, 1, 0), { name: 'stream of 1,000 deltas', unit: '×', bound: 2.5, note: perDelta(1) }),
    figureOf(ratios(rounds, 2, 0), { name: 'the same, each delta in its own tick', unit: '×', note: perDelta(2) }),
  ];
}

/** CPU time of 1,000 runs at once, whose model takes 5 ms. */
export async function measureConcurrent(setting: Setting): Promise<Figure[]> {
  const lanes = lanesOf(setting, { kind: 'concurrent', turns: 1, calls: 1, delayMs: 5 });
  const rounds = await race(lanes, { ...setting.race, clock: 'cpuUs' });
  const note = `${timesNote(rounds, 1, 0)} of CPU`;
  return [figureOf(ratios(rounds, 1, 0), { name: '1,000 runs at once, 5 ms model', unit: '×', bound: 1.5, note })];
}

/** What it takes to make an agent. */
export async function measureConstruct(setting: Setting): Promise<Figure[]> {
  const rounds = await race(lanesOf(setting, { kind: 'construct', turns: 1, calls: 1 }).slice(1), setting.race);
  return [
    figureOf(
      perRound(rounds, ([taken]) => taken as number),
      { name: 'construct', unit: 'µs' },
    ),
  ];
}
