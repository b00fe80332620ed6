import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Usage } from '../../src/model/model.js';
import { addUsage, type UsageSum } from '../../src/model/usage.js';

const emptySum = (): UsageSum => ({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

test('sums counts, and adds an optional count only if a usage has it', () => {
  const total = emptySum();
  expect(total).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

  addUsage(total, { inputTokens: 1, outputTokens: 2, totalTokens: 3 });
  addUsage(total, { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 1 });
  addUsage(total, {
    inputTokens: 1,
    outputTokens: 2,
    totalTokens: 3,
    cachedInputTokens: 1,
    reasoningTokens: 0,
    cacheWriteTokens: 4,
  });
  addUsage(total, undefined);

  expect(total).toEqual({
    inputTokens: 3,
    outputTokens: 6,
    totalTokens: 9,
    cachedInputTokens: 2,
    cacheWriteTokens: 4,
    reasoningTokens: 0,
  });
});

test('keeps the sum finite and never decreasing for any value of a count', () => {
  const value = fc.anything({ withBigInt: true });
  const usage = fc.record({ inputTokens: value, outputTokens: value, totalTokens: value, cachedInputTokens: value });
  fc.assert(
    fc.property(fc.array(usage), (usages) => {
      const total = emptySum();
      let last = 0;
      for (const each of usages) {
        addUsage(total, each as Usage);
        const { inputTokens, outputTokens, totalTokens } = total;
        expect([inputTokens, outputTokens, totalTokens].every(Number.isFinite)).toBe(true);
        expect(totalTokens).toBeGreaterThanOrEqual(last);
        last = totalTokens;
      }
    }),
  );
});
