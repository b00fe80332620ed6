import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { type Budget, type Exploration, explore } from './explorer.js';
import type { PlantedFault } from './plant.js';
import { Ledger } from './rules/ledger.js';
import type { Scenario } from './scenario.js';
import { Schedule } from './schedule.js';
import { World } from './world.js';

const NOTHING: Budget = { switch: 0, crash: 0, jump: 0, lost: 0, late: 0 };

/** Explores a scenario within a budget, with a planted fault or without. */
export async function check(scenario: Scenario, budget: Partial<Budget>, fault?: PlantedFault): Promise<Exploration> {
  // The first session loads the code of sessions, which takes time that the scheduler does not see.
  await (await new Agent({ model: scriptedModel('') }).session()).close();
  const { random } = Math;
  // The pause before a claim is asked for again is random. The scheduler decides when it ends.
  Math.random = () => 0.5;
  const remove = fault?.code?.();
  try {
    const ledger = new Ledger();
    return await explore(async () => new Schedule(new World(scenario, ledger, fault?.store)), {
      ...NOTHING,
      ...budget,
    });
  } finally {
    remove?.();
    Math.random = random;
  }
}

/** Returns the broken rule, and the steps that lead to it. Empty if no rule is broken. */
export function traceOf({ violation }: Exploration): readonly string[] {
  if (violation === undefined) return [];
  return [violation.why, ...violation.trace.map((label, at) => `${at + 1}. ${label}`)];
}
