import { differenceOf } from '../trial/difference.js';
import { comparable } from '../trial/outcome.js';
import { SCENARIOS } from '../trial/scenarios.js';
import { createTrial, type Scenario } from '../trial/trial.js';
import { checkAbort } from './abort-check.js';
import type { Bench } from './bench.js';
import { checkConcurrency } from './concurrency-check.js';
import type { LifecycleCheck } from './lifecycle-fault.js';
import { checkReplay } from './replay-check.js';
import { LATE, within } from './time-limit.js';

const ALL: readonly (() => Scenario)[] = Object.values(SCENARIOS);

/** The checks in the order in which they are made. A check reports problems; it throws only if the lifecycle hangs. */
export const CHECKS: Readonly<Record<LifecycleCheck, (bench: Bench) => Promise<void>>> = {
  shape: async ({ trial }) => trial.agent.ready(),
  answer: (bench) => runEach(bench, [SCENARIOS.answer, SCENARIOS.parts]),
  'tool-calls': (bench) => runEach(bench, [SCENARIOS.tools]),
  'tool-errors': (bench) => runEach(bench, [SCENARIOS.toolErrors]),
  'model-errors': (bench) => runEach(bench, [SCENARIOS.modelError, SCENARIOS.rubbish]),
  'time-outs': (bench) => runEach(bench, [SCENARIOS.toolTimeout, SCENARIOS.modelTimeout]),
  streaming: async ({ trial }) => {
    for (const make of ALL) {
      const scenario = make();
      await trial.run({ ...scenario, name: `${scenario.name}, as a stream`, stream: true });
    }
  },
  passive: checkPassive,
  replay: async (bench) => bench.replay && checkReplay(bench, bench.replay),
  abort: checkAbort,
  concurrency: checkConcurrency,
  session: checkSession,
  shutdown: ({ trial }) => trial.close(),
};

async function runEach({ trial }: Bench, scenarios: readonly (() => Scenario)[]): Promise<void> {
  for (const make of scenarios) await trial.run(make());
}

async function checkPassive({ trial, report, ...options }: Bench): Promise<void> {
  const without = createTrial([], { ...options, report });
  for (const make of ALL) {
    const expected = comparable(await without.run(make()));
    const difference = differenceOf(comparable(await trial.run(make())), expected);
    if (difference !== undefined) report(`a passive lifecycle must not change the run: ${difference}`);
  }
}

async function checkSession({ trial, giveUp, limitMs }: Bench): Promise<void> {
  const session = await within(trial.agent.session(), limitMs);
  if (session === LATE) return giveUp(`the session did not open within ${limitMs} ms`);
  const { ending } = await trial.run({ ...SCENARIOS.tools(), name: 'the first run of a session', session });
  // A suspended run needs a decision before the next run.
  if (ending !== 'suspended') {
    await trial.run({ ...SCENARIOS.answer(), name: 'the second run of a session', session });
  }
  if ((await within(session.close(), limitMs)) === LATE) giveUp(`the session did not close within ${limitMs} ms`);
}
