import { afterAll, describe, expect, test } from 'vitest';
import { check, traceOf } from './check.js';
import { plantedFaults } from './planted-faults.js';
import { scenarios } from './scenarios.js';

let executions = 0;
afterAll(() => console.log(`The protocol of conversations: ${executions} executions explored.`));

describe.each(Object.entries(scenarios))('processes that share a conversation: %s', (_title, scenario) => {
  test.each(scenario.budgets)('keep every rule with %o', async (budget) => {
    const found = await check(scenario, budget);
    executions += found.executions;

    expect(traceOf(found)).toEqual([]);
    expect(found.ends).toBeGreaterThan(0);
  });
});

describe('a planted fault is found', () => {
  test.each(Object.entries(plantedFaults))('%s', async (_title, fault) => {
    const scenario = scenarios[fault.scenario];
    const found = scenario && (await check(scenario, fault.budget, fault));
    executions += found?.executions ?? 0;

    expect(found?.violation?.why).toContain(fault.finds);
  });
});
