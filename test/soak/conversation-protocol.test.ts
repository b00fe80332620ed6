import { expect, test } from 'vitest';
import { check, traceOf } from '../agent/protocol/check.js';
import { scenarios } from '../agent/protocol/scenarios.js';

/** Two switches that were not forced, or one switch and one fault, or two faults of different kinds. */
const BUDGETS = [
  { switch: 2 },
  ...[{ crash: 1 }, { jump: 1 }, { lost: 1 }, { late: 1 }].map((fault) => ({ switch: 1, ...fault })),
  { crash: 1, jump: 1 },
  { crash: 1, lost: 1 },
  { jump: 1, lost: 1 },
  { jump: 1, late: 1 },
];

const cases = Object.entries(scenarios).flatMap(([title, scenario]) =>
  BUDGETS.map((budget) => ({ title, scenario, budget })),
);

test.each(cases)(
  'processes that share a conversation keep every rule: $title with $budget',
  async ({ scenario, budget }) => {
    expect(traceOf(await check(scenario, budget))).toEqual([]);
  },
);
