import type { Trial, TrialOptions } from '../trial/trial.js';

/** The environment of one check. */
export interface Bench extends Omit<TrialOptions, 'context' | 'enter'> {
  /** An agent with the lifecycle under test. */
  readonly trial: Trial;
  /** Creates the same agent without the lifecycle. */
  readonly bare: () => Trial;
  /** Number of concurrent runs. */
  readonly runs: number;
}
