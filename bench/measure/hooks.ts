import { type Figure, figureOf } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { type Rounds, race } from '../driver/race.js';
import { FLOOR, ratios, type Setting, timesNote } from './measurement.js';

const ROUND = { turns: 1, calls: 1 };
const COUNTS = [0, 1, 3, 5];

/** Agent.run() with 0, 1, 3 and 5 lifecycles with no-ops at all six points, and a model that takes 1 ms. */
export async function measureHookedRuns(setting: Setting): Promise<Figure[]> {
  const work = { ...ROUND, exactMs: 1 };
  // Blocks are short, so that some are not interrupted by another process.
  const options = { ...setting.race, blockMs: 5, passes: setting.race.passes * 4, clock: 'wallUs' } as const;
  const side = setting.builds.shipped;
  const lane = (hooks: number, burnMs = 0): LaneSpec => ({ side, work: { ...work, hooks, burnMs } });
  // 10 % of two model calls.
  const burnMs = 0.2;
  const lanes = [...COUNTS.map((hooks) => lane(hooks)), lane(1, burnMs), lane(5, burnMs)];
  const rounds = await race(lanes, options);
  const names = [
    '1 lifecycle',
    '3 lifecycles',
    '5 lifecycles',
    '1 lifecycle that burns 10 %',
    '5 lifecycles that burn 10 % each',
  ];
  const bounds = [1.05, undefined, 1.1, 1.05, 1.1];
  return names.map((name, i) =>
    figureOf(quietRatios(rounds, i + 1), {
      name: `${name}, 1 ms model, against none`,
      unit: '×',
      bound: bounds[i],
      control: i > 2,
      note: timesNote(rounds, i + 1, 0),
    }),
  );
}

/** Returns the ratio of a lane to the first lane in each round, by the lower quartiles of their blocks. */
function quietRatios(rounds: Rounds, lane: number): number[] {
  const quartile = (passes: Rounds[number], of: number) =>
    passes.map((taken) => taken[of] as number).sort((a, b) => a - b)[passes.length >> 2] as number;
  return rounds.map((passes) => quartile(passes, lane) / quartile(passes, 0));
}

/**
 * Agent.run() with lifecycles and a model without delay, compared with no lifecycles and with the hand-written loop
 * with the same hooks.
 */
export function measureHooks(style: 'sync' | 'async') {
  return async (setting: Setting): Promise<Figure[]> => {
    const lanes = [setting.builds.shipped, FLOOR].flatMap((side) =>
      COUNTS.map((hooks): LaneSpec => ({ side, work: { ...ROUND, hooks, style } })),
    );
    const rounds = await race(lanes, {
      ...setting.race,
      rounds: setting.race.rounds * 2,
      passes: setting.race.passes / 2,
    });
    return [1, 2, 3].map((lane) => hookFigure(rounds, lane, style));
  };
}

function hookFigure(rounds: Rounds, lane: number, style: 'sync' | 'async'): Figure {
  const hooks = COUNTS[lane] as number;
  const byHand = lane + COUNTS.length;
  return figureOf(ratios(rounds, lane, byHand), {
    name: `${hooks} ${style} ${hooks === 1 ? 'lifecycle' : 'lifecycles'}, against the hand-written loop`,
    unit: '×',
    bound: style === 'sync' ? 1.3 : 2,
    note: timesNote(rounds, lane, byHand),
  });
}
