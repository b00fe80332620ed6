import { anything, boolean, listOf, oneOf, text, timerMs, whole, withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { ReplayKit } from './bench.js';
import { Lab, type SubjectSource } from './lab.js';
import { CHECKS } from './lifecycle-checks.js';
import { LifecycleBudgetError, type LifecycleCheck, LifecycleFaultyError } from './lifecycle-fault.js';
import { watchRejections } from './rejection-watch.js';
import { LATE, within } from './time-limit.js';

/** Options of `assertLifecycle`. */
export interface AssertLifecycleOptions<Context = unknown> {
  /** True if the lifecycle must change nothing, compared with the same runs without it. Default: false. */
  readonly passive?: boolean | undefined;
  /**
   * Also checks that the hooks are deterministic, so that the lifecycle fits in durable runs. Takes the functions of
   * `keelson/durable`: `{ durable, memoryStep }`. Default: no check.
   */
  readonly replay?: ReplayKit | undefined;
  /** The context passed to every run, as `run.context`. */
  readonly context?: Context | undefined;
  /** The input of the runs. Set it if the lifecycle refuses the default, `Hello.` */
  readonly input?: string | undefined;
  /** Number of concurrent runs in the check `concurrency`. Default: 100. */
  readonly runs?: number | undefined;
  /** Time limit in milliseconds for a run, for a hook after its run, and for `close`. Default: 2,000. */
  readonly limitMs?: number | undefined;
  /** Checks to skip, because the lifecycle breaks their rules on purpose. */
  readonly skip?: readonly LifecycleCheck[] | undefined;
  /** Time for all checks together, in milliseconds. Default: 60,000. A test needs a longer time limit than this. */
  readonly budgetMs?: number | undefined;
}

const CHECK_NAMES = Object.keys(CHECKS) as LifecycleCheck[];

const rules = {
  passive: boolean,
  replay: withMethods('durable', 'memoryStep'),
  context: anything,
  input: text,
  runs: whole(1),
  limitMs: timerMs,
  skip: listOf(oneOf(...CHECK_NAMES)),
  budgetMs: timerMs,
} satisfies OptionTable<AssertLifecycleOptions>;

/** The options of `assertLifecycle`. `context` is required if the hooks of the lifecycle have a type for it. */
export type AssertLifecycleArguments<Context> = unknown extends Context
  ? [options?: AssertLifecycleOptions<Context>]
  : [options: AssertLifecycleOptions<Context> & { readonly context: Context }];

/**
 * Runs a lifecycle on a real agent with scripted models, and checks that it keeps its contract. Among other rules:
 *
 * - every tool call keeps exactly one result;
 * - a hook neither swallows an abort nor continues after it;
 * - no hook fails or hangs when models and tools fail, hang or exceed their time limits;
 * - streamed text is the text of the response;
 * - concurrent runs share no data;
 * - hooks change no data in place, and do not call `next` after they have settled;
 * - no promise rejection is left unhandled.
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
  const { passive = false, replay, skip = [] } = options;
  const isOn = (check: LifecycleCheck) => (check === 'passive' ? passive : check !== 'replay' || replay !== undefined);
  const checks = CHECK_NAMES.filter((check) => !skip.includes(check) && isOn(check));
  const { input = 'Hello.', runs = 100, limitMs = 2_000, budgetMs = 60_000, context } = options;
  const lab = new Lab(lifecycle as SubjectSource, { input, runs, limitMs, context, replay });
  const unwatch = watchRejections(lab.report);
  try {
    const isLate = (await within(performAll(lab, checks), budgetMs)) === LATE;
    if (isLate) throw new LifecycleBudgetError(lab.stop(), budgetMs);
  } finally {
    unwatch();
  }
  if (lab.faults.length > 0) throw new LifecycleFaultyError(lab.name, lab.faults);
  return checks;
}

async function performAll(lab: Lab, checks: readonly LifecycleCheck[]): Promise<void> {
  for (const check of checks) if (!(await lab.perform(check))) return;
  await lab.close();
}
