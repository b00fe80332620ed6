import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryDelayMs } from '../../src/model/retry-delay.js';

const none = { retryAfterMs: undefined };

test('a delay doubles with each attempt, and never exceeds the maximum', () => {
  const delays = fc.record({
    initialDelayMs: fc.nat(),
    maxDelayMs: fc.nat(),
    random: fc.double({ min: 0, max: 1, noNaN: true }).map((number) => () => number),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1 }), delays, (attempt, options) => {
      const delay = retryDelayMs(none, attempt, options) as number;
      const whole = Math.min(options.initialDelayMs * 2 ** Math.min(attempt - 1, 40), options.maxDelayMs);
      expect(delay).toBeGreaterThanOrEqual(whole / 2);
      expect(delay).toBeLessThanOrEqual(whole);
    }),
  );
});

test('an invalid delay of the provider is ignored', () => {
  const options = { initialDelayMs: 10, maxDelayMs: 100, random: () => 1 };

  expect([-1, Number.NaN].map((retryAfterMs) => retryDelayMs({ retryAfterMs }, 1, options))).toEqual([10, 10]);
});
