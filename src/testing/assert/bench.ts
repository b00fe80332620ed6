import type { Trial, TrialOptions } from '../trial/trial.js';

/** What one check works with. */
export interface Bench extends Omit<TrialOptions, 'context' | 'enter'> {
  /** An agent with the lifecycle under test. */
  readonly trial: Trial;
  /** Makes the same agent without it. */
  readonly bare: () => Trial;
  /** How many runs go at once. */
  readonly runs: number;
}
