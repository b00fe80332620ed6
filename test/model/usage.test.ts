import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Usage } from '../../src/model/model.js';
import { UsageTotal } from '../../src/model/usage.js';

test('sums what there is, and has no optional count that nobody gave', () => {
  const total = new UsageTotal();
  expect(total.snapshot()).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

  total.add({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
  total.add({ inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 1 });
  total.add({ inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 1, reasoningTokens: 0 });
  total.add(undefined);

  expect(total.snapshot()).toEqual({
    inputTokens: 3,
    outputTokens: 6,
    totalTokens: 9,
    cachedInputTokens: 2,
    reasoningTokens: 0,
  });
});

test('a snapshot stays as it was', () => {
  const total = new UsageTotal();
  const before = total.snapshot();

  total.add({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });

  expect(before.totalTokens).toBe(0);
});

test('any value for a count leaves a finite sum that never falls', () => {
  const value = fc.anything({ withBigInt: true });
  const usage = fc.record({ inputTokens: value, outputTokens: value, totalTokens: value, cachedInputTokens: value });
  fc.assert(
    fc.property(fc.array(usage), (usages) => {
      const total = new UsageTotal();
      let last = 0;
      for (const each of usages) {
        total.add(each as Usage);
        const { inputTokens, outputTokens, totalTokens } = total.snapshot();
        expect([inputTokens, outputTokens, totalTokens].every(Number.isFinite)).toBe(true);
        expect(totalTokens).toBeGreaterThanOrEqual(last);
        last = totalTokens;
      }
    }),
  );
});
