import { KeelsonError } from '../../errors.js';
import { differenceOf } from '../trial/difference.js';
import { comparable, type Outcome } from '../trial/outcome.js';
import { SCENARIOS } from '../trial/scenarios.js';
import { createTrial, type Scenario } from '../trial/trial.js';
import type { Bench, ReplayKit } from './bench.js';
import { pause } from './time-limit.js';

/** The scenarios that need no time limit to end. */
const REPLAYED: readonly (() => Scenario)[] = Object.values<() => Scenario>(SCENARIOS).filter(
  (make) => make().timeouts === undefined,
);

/** The pause before a replay, so that a hook that reads the system clock behaves differently in the replay. */
const PAUSE_MS = 5;

/** Makes each run durably, then again from its journal. Both must take the same steps and end the same way. */
export async function checkReplay(bench: Bench, kit: ReplayKit): Promise<void> {
  for (const make of REPLAYED) {
    const scenario = make();
    const first = await attempt(bench, scenario, { kit, journal: [] });
    await pause(PAUSE_MS);
    const replay = await attempt(bench, scenario, { kit, journal: first.journal });
    const problem = replayProblem(first, replay);
    bench.enter(scenario.name);
    if (problem !== undefined) bench.report(`the run must end in the same way on a replay: ${problem}`, 'replay');
  }
}

interface Attempt {
  readonly outcome: Outcome;
  readonly journal: readonly unknown[];
}

async function attempt(
  bench: Bench,
  scenario: Scenario,
  { kit, journal }: { readonly kit: ReplayKit; readonly journal: readonly unknown[] },
): Promise<Attempt> {
  const step = kit.memoryStep({ journal: journal as never });
  const engine = kit.durable({ step: step as never, maxAttempts: 1 });
  const trial = createTrial([bench.subject()], { ...bench, prepare: (options) => engine.options(options) });
  const outcome = await trial.run(scenario);
  await trial.close();
  // A replay takes the answers of the model from the journal, so it makes no requests.
  return { outcome: { ...outcome, requests: [] }, journal: step.journal };
}

function replayProblem(first: Attempt, replay: Attempt): string | undefined {
  const { error } = replay.outcome;
  const { cause } = Object(error) as { readonly cause?: unknown };
  if (cause instanceof KeelsonError && cause.code === 'ERR_REPLAY_MISMATCH') return cause.message;
  const difference = differenceOf(comparable(replay.outcome), comparable(first.outcome));
  if (difference !== undefined) return difference;
  const [taken, known] = [replay.journal.length, first.journal.length];
  return taken === known ? undefined : `the replay took ${taken} steps, not ${known}`;
}
