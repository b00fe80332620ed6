import { z } from 'zod';

/** The arguments of the fake tool of both sides. */
export const schema = z.object({ a: z.number(), b: z.number() });

/**
 * The implementation of the fake tool of both sides.
 * @param {import('./script.mjs').Counts} counts
 */
export function addWith(counts) {
  /** @param {{ a: number, b: number }} input */
  return async ({ a, b }) => {
    counts.tools++;
    return String(a + b);
  };
}
