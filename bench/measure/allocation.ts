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

/**
 * Bytes that hooks add to a run. The first lifecycle adds the requests, their promises, the steps of the model calls, the
 * copies that undo damage by a hook, and the shared objects of the wraps.
 * Each lifecycle adds a call record, a `next` and a promise for each of its three wraps, and nothing for its other six
 * callbacks.
 */
export async function measureHookBytes({ builds }: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  const none = (await countExactly(builds.shipped, ROUND)).bytes;
  const floor = (await countExactly(FLOOR, ROUND)).bytes;
  for (const hooks of [0, 1, 3, 5]) {
    const { bytes } = await countExactly(builds.shipped, { ...ROUND, hooks });
    const byHand = await countExactly(FLOOR, { ...ROUND, hooks });
    figures.push({
      name: `bytes of a run with ${hooks} ${hooks === 1 ? 'lifecycle' : 'lifecycles'}`,
      value: Math.round(bytes),
      unit: 'B',
      bound: hooks === 0 ? Math.round(floor * 1.5) : Math.round(none + FIRST_PART_BYTES + hooks * PART_BYTES),
      note: `by hand ${digits(byHand.bytes)}`,
    });
  }
  return figures;
}

const FIRST_PART_BYTES = 1700;
const PART_BYTES = 3 * 160;
