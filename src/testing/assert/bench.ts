import type { Scenario, Trial } from '../trial/trial.js';
import type { Report } from './lifecycle-fault.js';

/** What one check works with. */
export interface Bench {
  /** An agent with the lifecycle under test. */
  readonly trial: Trial;
  /** Makes the same agent without it. */
  readonly bare: () => Trial;
  /** Takes what is broken, where no trial reports it by itself. */
  readonly report: Report;
  /** Takes what hangs, and ends the check. */
  readonly giveUp: (problem: string) => never;
  /** How many runs go at once. */
  readonly runs: number;
  readonly input: string;
  readonly limitMs: number;
}

/** Makes a scenario anew: some of them count. */
export type MakeScenario = () => Scenario;
