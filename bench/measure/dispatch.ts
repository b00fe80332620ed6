import type { Builds } from '../driver/builds.js';
import { countExactly } from '../driver/exact.js';
import { type Figure, figureOf } from '../driver/figure.js';
import { race } from '../driver/race.js';
import type { Work } from '../work/script.mjs';
import { ratios, type Setting, timesNote } from './measurement.js';

const ROUND = { turns: 1, calls: 1 };

/**
 * Bytes and microtasks of hook dispatch without lifecycles: the full build compared with the build without dispatch.
 */
export async function countDispatch({ builds }: Setting): Promise<Figure[]> {
  const bare = await countExactly(builds.bare, ROUND);
  const leaking = await countExactly(builds.leaking, ROUND);
  const late = await countExactly(builds.bare, ROUND, 'late');
  const stray = { unit: '', bound: 0, control: true } as const;
  return [
    ...(await dispatchOf(builds, '1 tool round', ROUND)),
    ...(await dispatchOf(builds, '20 rounds of 2 calls', { turns: 20, calls: 2 })),
    { ...stray, name: 'one extra object per run', value: apart(leaking.bytes, bare.bytes), unit: 'B' },
    { ...stray, name: 'one extra await per run', value: late.microtasks - bare.microtasks },
  ];
}

async function dispatchOf(builds: Builds, name: string, work: Partial<Work>): Promise<Figure[]> {
  const bare = await countExactly(builds.bare, work);
  const whole = await countExactly(builds.whole, work);
  const shipped = await countExactly(builds.shipped, work);
  const microtasks = Math.abs(whole.microtasks - bare.microtasks);
  const note = `${Math.round(whole.bytes)} B per run against ${Math.round(bare.bytes)}; ${Math.round(shipped.bytes)} as shipped`;
  return [
    { name: `bytes of dispatch, ${name}`, value: apart(whole.bytes, bare.bytes), unit: 'B', bound: 0, note },
    {
      name: `microtasks of dispatch, ${name}`,
      value: microtasks,
      unit: '',
      bound: 0,
      note: `${whole.microtasks} per run`,
    },
  ];
}

/** The heap itself adds a little to a reading, and the smallest allocation of a program is one word. */
function apart(bytes: number, others: number): number {
  return Math.round(Math.abs(bytes - others) / 8) * 8;
}

/** Compares the time of the two builds. */
export async function timeDispatch(setting: Setting): Promise<Figure[]> {
  const { builds } = setting;
  const lanes = [builds.bare, builds.whole].map((side) => ({ side, work: ROUND }));
  // V8 optimises each process slightly differently, so two per cent is visible only over many processes.
  const rounds = await race(lanes, { ...setting.race, rounds: setting.race.rounds * 8 });
  const note = `${timesNote(rounds, 1, 0)}; removed in ${builds.places} places`;
  return [figureOf(ratios(rounds, 1, 0), { name: 'time against no dispatch', unit: '×', note })];
}
