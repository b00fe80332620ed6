import { expect, it } from 'vitest';
import { fuzzWraps } from '../../support/agent/fuzz-wraps.js';

it('keeps its rules in 500 random runs whose outer wraps settle first', async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= 500; seed += 1) {
    const problem = await fuzzWraps(seed);
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  expect(problems).toEqual([]);
});
