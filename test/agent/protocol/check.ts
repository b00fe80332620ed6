import { Agent, HookAction, type Session } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { toolOf } from '../../support/agent/sample-tools.js';
import { type Budget, type Exploration, explore } from './explorer.js';
import type { PlantedFault } from './plant.js';
import { Ledger } from './rules/ledger.js';
import type { Scenario } from './scenario.js';
import { Schedule } from './schedule.js';
import { World } from './world.js';

const NOTHING: Budget = { switch: 0, crash: 0, jump: 0, lost: 0, late: 0 };

/** Explores a scenario within a budget, with a planted fault or without. */
export async function check(scenario: Scenario, budget: Partial<Budget>, fault?: PlantedFault): Promise<Exploration> {
  await loadCode();
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

/**
 * Runs a session with an urgent message and a resumed run, before a check begins. The library imports the code for them on
 * first use. The scheduler of the check does not wait for an import, so it would let the time of the claim pass.
 */
async function loadCode(): Promise<void> {
  let session: Session | undefined;
  let asked = 0;
  const model = scriptedModel(
    ({ signal }) => {
      asked += 1;
      if (asked > 1) return asked === 2 ? calls('work', {}) : 'Done.';
      void session?.send('Now.', { when: 'now' });
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
    { record: false },
  );
  const lifecycle = [{ wrapToolCall: () => HookAction.suspend('may I?') }];
  session = await new Agent({ model, tools: [toolOf('work', () => 'x')], lifecycle }).session();
  const { pending } = await session.run('Hello.');
  await session.run('', { resume: Object.fromEntries(pending.map(({ id }) => [id, 'deny'])) });
  await session.close();
}

/** Returns the broken rule, and the steps that lead to it. Empty if no rule is broken. */
export function traceOf({ violation }: Exploration): readonly string[] {
  if (violation === undefined) return [];
  return [violation.why, ...violation.trace.map((label, at) => `${at + 1}. ${label}`)];
}
