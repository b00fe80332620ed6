import type { Run } from '../../agent/run/run.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import { stepScope } from './scope.js';

/** The time that an execution sees between its steps: the end of its last step. A replay sees the same times. */
export class ExecutionTime {
  private now = 0;
  /** The real clock of an agent, by the clock that its runs see. */
  private readonly bases = new WeakMap<Clock, Clock>();
  /** The clock of the agent that ran first. Steps outside a run use it. */
  private first: Clock | undefined = undefined;

  /**
   * Returns a clock that shows the time of the execution, which a replay repeats. Timers and the time inside a step
   * come from the clock `base`.
   */
  clockOver(base: Clock): Clock {
    this.first ??= base;
    const clock: Clock = {
      // Inside a step the time is real, because the step is not replayed.
      now: () => (stepScope.getStore() === undefined ? this.now : base.now()),
      setTimeout: (callback, ms) => base.setTimeout(callback, ms),
      clearTimeout: (handle) => base.clearTimeout(handle),
    };
    this.bases.set(clock, base);
    return clock;
  }

  /** True for a clock that `clockOver` of this object has returned. */
  has(clock: Clock): boolean {
    return this.bases.has(clock);
  }

  /** Returns the real clock of the run's agent. */
  baseOf(run: Run | undefined): Clock {
    return (run && this.bases.get(run.context.clock)) ?? this.first ?? systemClock;
  }

  /** Sets the time to the end of a step. The time never goes back. */
  advance(at: number): void {
    this.now = Math.max(this.now, at);
  }
}
