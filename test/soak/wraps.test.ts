import { expect, test } from 'vitest';
import { fuzzWraps } from '../support/agent/fuzz-wraps.js';

test('rule 10: 20,000 random runs whose outer wraps settle first keep their rules', { timeout: 300_000 }, async () => {
  const problems: string[] = [];
  for (let seed = 1_000; seed < 1_000 + 20_000; seed += 1) {
    const problem = await fuzzWraps(seed);
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  expect(problems).toEqual([]);
});
