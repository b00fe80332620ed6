import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import { Lab, type SubjectSource } from './lab.js';
import { CHECKS } from './lifecycle-checks.js';
import { type LifecycleCheck, LifecycleFaultyError } from './lifecycle-fault.js';
import { watchRejections } from './rejection-watch.js';

/** Options of `assertLifecycle`. */
export interface AssertLifecycleOptions<Context = unknown> {
  /** The lifecycle is expected to change nothing: each run is compared with the same run without it. Default: false. */
  readonly passive?: boolean | undefined;
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
}

/** Requires the option `context` if the lifecycle has a Context type. */
export type AssertLifecycleArguments<Context> = unknown extends Context
  ? [options?: AssertLifecycleOptions<Context>]
  : [options: AssertLifecycleOptions<Context> & { readonly context: Context }];

/**
 * Runs a lifecycle on a real agent with scripted models, and checks that it keeps its contract. Among other rules:
 *
 * - every tool call keeps exactly one result;
 * - an abort ends the run at once, at any hook and any step;
 * - failing, hanging and slow models and tools are handled;
 * - a stream gives the same result as a run;
 * - concurrent runs share no data;
 * - hooks change no data in place, and do not call `next` after they have settled;
 * - other lifecycles get their `afterAgent` or `onError`;
 * - no promise rejection is left unhandled.
 *
 * Pass a function that creates the lifecycle to test each check with a new instance and a new agent. A single instance
 * goes through all checks on one agent, which is closed at the end.
 *
 * Resolves with the performed checks. Rejects with LifecycleFaultyError, which lists every fault.
 *
 * @example
 * test('the limits keep the contract', () => assertLifecycle(() => limits({ modelCalls: 100 }), { passive: true }));
 */
export async function assertLifecycle<Context = unknown>(
  lifecycle: AgentLifecycle<Context> | (() => AgentLifecycle<Context>),
  ...[options = {} as AssertLifecycleOptions<Context>]: AssertLifecycleArguments<Context>
): Promise<readonly LifecycleCheck[]> {
  const { passive = false, skip = [] } = options;
  const checks = (Object.keys(CHECKS) as LifecycleCheck[]).filter(
    (check) => !skip.includes(check) && (passive || check !== 'passive'),
  );
  const { input = 'Hello.', runs = 100, limitMs = 2_000, context } = options;
  const lab = new Lab(lifecycle as SubjectSource, { input, runs, limitMs, context });
  const unwatch = watchRejections(lab.report);
  try {
    await performAll(lab, checks);
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
