import fc from 'fast-check';
import { expect } from 'vitest';
import { type Crash, CrashPlay } from './crash-play.js';
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

const crashes: fc.Arbitrary<readonly Crash[]> = fc.array(fc.record({ append: fc.nat(12), isStored: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});

/** Plays random trees of agents in processes that stop. Throws at the first broken rule. */
export async function crashRandomTrees(numRuns: number): Promise<void> {
  const unlimited = plans.filter(({ limit }) => limit === undefined);
  await fc.assert(
    fc.asyncProperty(unlimited, rolls, crashes, async (plan, numbers, stops) => {
      expect(await new CrashPlay(plan, numbers, stops).run()).toBeUndefined();
    }),
    { numRuns },
  );
}
