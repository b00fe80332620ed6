import { Agent } from '../../agent/agent.js';
import { KeelsonError } from '../../errors.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import { scriptedModel } from '../script/scripted-model.js';
import { differenceOf } from '../trial/difference.js';
import { comparable, errorOutcome, type Outcome, resultOutcome } from '../trial/outcome.js';
import { SCENARIOS } from '../trial/scenarios.js';
import { type Scenario, trialTools } from '../trial/trial.js';
import type { Bench, ReplayKit } from './bench.js';
import { LATE, pause, within } from './time-limit.js';

/** The scenarios that end by themselves, without a time limit. */
const REPLAYED: readonly (() => Scenario)[] = Object.values<() => Scenario>(SCENARIOS).filter(
  (make) => make().timeouts === undefined,
);

/**
 * The pause between a run and its replay. It makes a hook that reads the system clock behave differently in the replay.
 */
const PAUSE_MS = 5;

/** Runs each scenario durably, then again from its journal. Both must take the same steps and end in the same way. */
export async function checkReplay(bench: Bench, kit: ReplayKit): Promise<void> {
  for (const make of REPLAYED) {
    const scenario = make();
    const first = await attempt(bench, scenario, { kit, journal: [] });
    await pause(PAUSE_MS);
    const replay = await attempt(bench, scenario, { kit, journal: first.journal });
    const problem = replayProblem(first, replay);
    if (problem !== undefined)
      bench.report(`${scenario.name} must end in the same way on a replay: ${problem}`, 'replay');
  }
}

interface Attempt {
  readonly outcome: Outcome;
  readonly journal: readonly unknown[];
}

async function attempt(
  { subject, input, limitMs, giveUp, context }: Bench,
  scenario: Scenario,
  { kit, journal }: { readonly kit: ReplayKit; readonly journal: readonly unknown[] },
): Promise<Attempt> {
  const step = kit.memoryStep({ journal: journal as never });
  const engine = kit.durable({ step: step as never, maxAttempts: 1 });
  const model = scriptedModel(scenario.script);
  const lifecycle = [subject()] as readonly unknown[] as readonly AgentLifecycle[];
  const options = engine.options({ model, tools: trialTools(), lifecycle, logger: SILENT });
  const agent = new Agent(options);
  const running = agent.run(input, { context } as never).then(
    (result) => resultOutcome(result, WITNESS),
    (error: unknown) => errorOutcome(error, WITNESS),
  );
  const outcome = await within(running, limitMs);
  if (outcome === LATE) return giveUp(`a durable run did not end within ${limitMs} ms`);
  await agent.close();
  return { outcome, journal: step.journal };
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

const WITNESS = { requests: [], events: [] };
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
