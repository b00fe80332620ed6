import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Trial, TrialOptions } from '../trial/trial.js';
import type { ReplayKit } from './replay-kit.js';

/** The environment of one check. */
export interface Bench extends Omit<TrialOptions, 'enter'> {
  /** An agent with the lifecycle under test. */
  readonly trial: Trial;
  /** Creates the same agent without the lifecycle. */
  readonly bare: () => Trial;
  /** Returns the lifecycle under test: a new one each time, if the assertion got a function. */
  readonly subject: () => AgentLifecycle<never>;
  /** The functions of `keelson/durable`, if the lifecycle is checked for replays. */
  readonly replay: ReplayKit | undefined;
  /** Number of concurrent runs. */
  readonly runs: number;
}
