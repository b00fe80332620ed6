import { describeError } from '../../errors.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import { nameOf } from '../trial/observed-lifecycle.js';
import { createTrial, type Trial } from '../trial/trial.js';
import type { Bench } from './bench.js';
import { CHECKS } from './lifecycle-checks.js';
import { type LifecycleCheck, type LifecycleFault, LifecycleFaultyError, type Report } from './lifecycle-fault.js';
import { pause } from './time-limit.js';

/** A lifecycle under test, or a function that creates it. */
export type SubjectSource = AgentLifecycle<never> | (() => AgentLifecycle<never>);

/** The options of `assertLifecycle` that the checks need, with defaults. */
export type LabOptions = Pick<Bench, 'input' | 'context' | 'limitMs' | 'runs' | 'replay'>;

/** Milliseconds to wait after each check, so that errors of late timers and promises are seen. */
const GRACE_MS = 10;

/** Performs the checks of one assertion, and collects the faults that they find. */
export class Lab {
  /** The name of the lifecycle. `lifecycle` until the first check has created it. */
  name = 'lifecycle';
  private readonly found = new Map<string, LifecycleFault>();
  private check: LifecycleCheck = 'shape';
  private run = 'no run yet';
  private shared: Trial | undefined = undefined;
  private isStopped = false;

  constructor(
    private readonly source: SubjectSource,
    private readonly options: LabOptions,
  ) {}

  get faults(): readonly LifecycleFault[] {
    return [...this.found.values()];
  }

  /** Records a fault. A repeated fault is only counted. */
  readonly report: Report = (problem, kind = problem) => {
    const { check, run } = this;
    const known = this.found.get(kind);
    this.found.set(kind, known ? { ...known, count: known.count + 1 } : { check, run, problem, count: 1 });
  };

  /** Performs one check. Returns false if the lifecycle is invalid or hangs, so that further checks make no sense. */
  async perform(check: LifecycleCheck): Promise<boolean> {
    this.check = check;
    this.run = 'outside any run';
    try {
      await this.conduct(check);
    } catch (error) {
      if (error instanceof LifecycleFaultyError || this.isStopped) return false;
      this.report(describeError(error));
      if (check === 'shape') return false;
    }
    await pause(GRACE_MS);
    return true;
  }

  /** Stops the checks, and returns the running check, its run and the faults so far. */
  stop() {
    this.isStopped = true;
    const { name: lifecycle, check, run, faults } = this;
    return { lifecycle, check, run, faults };
  }

  async close(): Promise<void> {
    await this.shared?.close();
    await pause(GRACE_MS);
  }

  private async conduct(check: LifecycleCheck): Promise<void> {
    const subject = () => (typeof this.source === 'function' ? this.source() : this.source);
    const trial = this.shared ?? this.open(subject());
    if (typeof this.source !== 'function') this.shared = trial;
    await CHECKS[check]({ ...this.trialOptions(), trial, subject });
    if (trial !== this.shared) await trial.close();
  }

  private open(subject: AgentLifecycle<never>): Trial {
    if (typeof subject === 'object' && subject !== null) this.name = nameOf(subject);
    return createTrial([subject], this.trialOptions());
  }

  private trialOptions() {
    const enter = (run: string) => {
      if (this.isStopped) throw new LifecycleFaultyError(this.name, this.faults);
      this.run = run;
    };
    return { ...this.options, enter, report: this.report, giveUp: this.giveUp };
  }

  /** Ends the checks after a hang, because every later check would run into the same time limit. */
  private readonly giveUp = (problem: string): never => {
    this.report(`${problem}; the remaining checks were skipped`);
    throw new LifecycleFaultyError(this.name, this.faults);
  };
}
