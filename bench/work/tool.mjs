import { z } from 'zod';

/** The arguments of the tool of both sides. */
export const schema = z.object({ a: z.number(), b: z.number() });

/**
 * What the tool of both sides does.
 * @param {import('./script.mjs').Counts} counts
 */
export function addWith(counts) {
  /** @param {{ a: number, b: number }} input */
  return async ({ a, b }) => {
    counts.tools++;
    return String(a + b);
  };
}
