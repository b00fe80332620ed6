import fc from 'fast-check';
import { Agent, type AssistantPart, type Usage } from 'keelson';
import { expect, test } from 'vitest';
import { echo } from '../support/agent/sample-tools.js';

const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'echo', input: { text: 'a' } };

/** Runs an agent whose model calls have these usages. Returns the sum before each later turn, and the sum of the run. */
async function sumsOf(usages: readonly unknown[]): Promise<Usage[]> {
  const sums: Usage[] = [];
  let asked = 0;
  const model = {
    id: 'm',
    async generate() {
      const usage = usages[asked] as Usage;
      asked += 1;
      return asked < usages.length
        ? { content: [call], finishReason: 'tool-calls' as const, usage }
        : { content: [{ type: 'text' as const, text: 'done' }], finishReason: 'stop' as const, usage };
    },
  };
  const beforeModel = (_: unknown, run: { readonly usage: Usage }) => void sums.push({ ...run.usage });
  const agent = new Agent({ model, tools: [echo], maxTurns: 100, lifecycle: [{ beforeModel }] });
  const { usage } = await agent.run('go');
  return [...sums, usage];
}

test('sums counts, and adds an optional count only if a usage has it', async () => {
  const one = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  const sums = await sumsOf([
    one,
    { ...one, cachedInputTokens: 1 },
    { ...one, cachedInputTokens: 1, reasoningTokens: 0, cacheWriteTokens: 4 },
    undefined,
  ]);

  expect(sums.slice(0, 2)).toEqual([{ inputTokens: 0, outputTokens: 0, totalTokens: 0 }, one]);
  expect(sums.at(-1)).toEqual({
    ...{ inputTokens: 3, outputTokens: 6, totalTokens: 9 },
    ...{ cachedInputTokens: 2, cacheWriteTokens: 4, reasoningTokens: 0 },
  });
});

test('keeps the sum finite and never decreasing for any value of a count', async () => {
  const value = fc.anything({ withBigInt: true });
  const usage = fc.record({ inputTokens: value, outputTokens: value, totalTokens: value, cachedInputTokens: value });
  await fc.assert(
    fc.asyncProperty(fc.array(usage, { minLength: 1 }), async (usages) => {
      let last = 0;
      for (const { inputTokens, outputTokens, totalTokens } of await sumsOf(usages)) {
        expect([inputTokens, outputTokens, totalTokens].every(Number.isFinite)).toBe(true);
        expect(totalTokens).toBeGreaterThanOrEqual(last);
        last = totalTokens;
      }
    }),
  );
});
