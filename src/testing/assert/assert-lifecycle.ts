import { anything, boolean, callable, listOf, oneOf, text, timerMs, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import { Lab, type SubjectSource } from './lab.js';
import { CHECKS } from './lifecycle-checks.js';
import { LifecycleBudgetError, type LifecycleCheck, LifecycleFaultyError } from './lifecycle-fault.js';
import { watchRejections } from './rejection-watch.js';
import { LATE, within } from './time-limit.js';

/** The check that `assertLifecycle` is about to make. */
export interface AssertProgress {
  readonly check: LifecycleCheck;
  /** The position of the check, from 1 to `total`. */
  readonly index: number;
  readonly total: number;
}

/** What `assertLifecycle` needs to know of a lifecycle. */
export interface AssertLifecycleOptions<Context = unknown> {
  /** The lifecycle claims to change nothing: each run is compared with the same one without it. Default: false. */
  readonly passive?: boolean | undefined;
  /** Handed to every run, for a lifecycle that reads `run.context`. */
  readonly context?: Context | undefined;
  /** What the runs are asked, for a lifecycle that would refuse it. Default: `Hello.` */
  readonly input?: string | undefined;
  /** How many runs go at once in `concurrency`. Default: 100. */
  readonly runs?: number | undefined;
  /** How long a run, a hook after its run, and `close` may take, in milliseconds. Default: 2,000. */
  readonly limitMs?: number | undefined;
  /** Checks to leave out, where a lifecycle does on purpose what they object to. */
  readonly skip?: readonly LifecycleCheck[] | undefined;
  /** Called before each check. A throw ends the assertion with that error. */
  readonly onProgress?: ((progress: AssertProgress) => void) | undefined;
  /** Time for all checks together, in milliseconds. Default: 60,000. A test needs a longer time limit than this. */
  readonly budgetMs?: number | undefined;
}

const CHECK_NAMES = Object.keys(CHECKS) as LifecycleCheck[];

const rules = {
  passive: boolean,
  context: anything,
  input: text,
  runs: whole(1),
  limitMs: timerMs,
  skip: listOf(oneOf(...CHECK_NAMES)),
  onProgress: callable,
  budgetMs: timerMs,
} satisfies OptionTable<AssertLifecycleOptions>;

/** `context` is required exactly where the lifecycle has a Context. */
export type AssertLifecycleArguments<Context> = unknown extends Context
  ? [options?: AssertLifecycleOptions<Context>]
  : [options: AssertLifecycleOptions<Context> & { readonly context: Context }];

/**
 * Runs a lifecycle on a real agent with scripted models, and checks that it keeps its contract: calls and results stay
 * paired, lifecycles beside it get their end, an abort ends its run at once wherever it comes, models and tools may
 * fail, hang and time out, a stream gives what a run gives, a hundred runs at once share nothing, nothing is changed in
 * place, `next` is left alone once the hook has settled, and no rejection goes unhandled.
 *
 * Give a function that makes the lifecycle: each check then has a new one, with an agent of its own. One instance is
 * put through all of them on one agent, which is closed at the end.
 *
 * Resolves with the checks that were made. Rejects with LifecycleFaultyError, which lists everything that is broken.
 * Rejects with LifecycleBudgetError, which names the running check, if the checks take longer than `budgetMs`.
 *
 * @example
 * test('the limits keep the contract', () => assertLifecycle(() => limits({ modelCalls: 100 }), { passive: true }));
 */
export async function assertLifecycle<Context = unknown>(
  lifecycle: AgentLifecycle<Context> | (() => AgentLifecycle<Context>),
  ...[options = {} as AssertLifecycleOptions<Context>]: AssertLifecycleArguments<Context>
): Promise<readonly LifecycleCheck[]> {
  validateOptions(options, rules);
  const { passive = false, skip = [] } = options;
  const checks = CHECK_NAMES.filter((check) => !skip.includes(check) && (passive || check !== 'passive'));
  const { input = 'Hello.', runs = 100, limitMs = 2_000, budgetMs = 60_000, context } = options;
  const lab = new Lab(lifecycle as SubjectSource, { input, runs, limitMs, context });
  const unwatch = watchRejections(lab.report);
  try {
    const isLate = (await within(performAll(lab, checks, options.onProgress), budgetMs)) === LATE;
    if (isLate) throw new LifecycleBudgetError(lab.stop(), budgetMs);
  } finally {
    unwatch();
  }
  if (lab.faults.length > 0) throw new LifecycleFaultyError(lab.name, lab.faults);
  return checks;
}

async function performAll(
  lab: Lab,
  checks: readonly LifecycleCheck[],
  onProgress: AssertLifecycleOptions['onProgress'],
): Promise<void> {
  for (const [at, check] of checks.entries()) {
    onProgress?.({ check, index: at + 1, total: checks.length });
    if (!(await lab.perform(check))) return;
  }
  await lab.close();
}
