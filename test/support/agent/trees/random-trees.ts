import fc from 'fast-check';
import { expect } from 'vitest';
import type { Place } from './places.js';
import { plans } from './plan.js';
import { TreePlay } from './play.js';

const rolls = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 });

/** Plays random trees of agents, with random decisions. Throws at the first broken rule. */
export async function playRandomTrees(openPlaces: () => Promise<readonly Place[]>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(plans, rolls, async (plan, numbers) => {
      expect(await new TreePlay(plan, numbers, await openPlaces()).run()).toBeUndefined();
    }),
    { numRuns },
  );
}
