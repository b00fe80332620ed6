import type { AgentOptions } from '../../agent/agent-options.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Trial, TrialOptions } from '../trial/trial.js';

/** The function of a durable lifecycle that the check `replay` needs. */
export interface DurableKit {
  /** Returns the options of an agent whose runs are durable. */
  options(options: AgentOptions): AgentOptions;
}

/**
 * The functions of `keelson/durable` that the check `replay` needs. They are passed in, so that `keelson/testing` does
 * not load `keelson/durable` for other tests.
 */
export interface ReplayKit {
  /** The function `durable`. */
  durable(options: { readonly step: never; readonly maxAttempts: number }): DurableKit;
  /** The function `memoryStep`. */
  memoryStep(options: { readonly journal?: never }): { readonly journal: readonly unknown[] };
}

/** The environment of one check. */
export interface Bench extends TrialOptions {
  /** An agent with the lifecycle under test. */
  readonly trial: Trial;
  /** Returns the lifecycle under test: a new one each time, if the assertion got a function. */
  readonly subject: () => AgentLifecycle<never>;
  /** The functions of `keelson/durable`, if the lifecycle is checked for replays. */
  readonly replay: ReplayKit | undefined;
  /** Number of concurrent runs. */
  readonly runs: number;
}
