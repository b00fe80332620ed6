import { countExactly, countOptimised } from '../driver/exact.js';
import { digits, type Figure } from '../driver/figure.js';
import { FLOOR, type Setting } from './measurement.js';

const ROUND = { turns: 1, calls: 1 };

/** Bytes of a tool round compared with the floor, after optimisation and in the interpreter. */
export async function measureAllocation({ builds }: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, count] of Object.entries({
    'after optimisation': countOptimised,
    'in the interpreter': countExactly,
  })) {
    const floor = await count(FLOOR, ROUND);
    const own = await count(builds.shipped, ROUND);
    figures.push({
      name: `bytes of 1 tool round, ${name}`,
      value: own.bytes / floor.bytes,
      unit: '×',
      bound: 1.5,
      note: `${digits(own.bytes)} B against ${digits(floor.bytes)}`,
    });
  }
  return figures;
}

/** The bytes of a run with lifecycles, beside the bytes of the hand-written loop with the same hooks. */
export async function measureHookBytes({ builds }: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const hooks of [0, 1, 3, 5]) {
    const { bytes } = await countExactly(builds.shipped, { ...ROUND, hooks });
    const byHand = await countExactly(FLOOR, { ...ROUND, hooks });
    figures.push({
      name: `bytes of a run with ${hooks} ${hooks === 1 ? 'lifecycle' : 'lifecycles'}`,
      value: Math.round(bytes),
      unit: 'B',
      note: `by hand ${digits(byHand.bytes)}`,
    });
  }
  return figures;
}
