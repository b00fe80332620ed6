import type { Run } from '../../agent/run/run.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import { stepScope } from './scope.js';

/** The time of an execution: the end of its last step. The same in each attempt. */
export class ExecutionTime {
  private now = 0;
  /** Maps the clock of each run to the clock of its agent. */
  private readonly bases = new WeakMap<Clock, Clock>();
  /** The clock of the first agent. It gives the time to steps outside a run. */
  private first: Clock | undefined = undefined;

  /**
   * Returns a clock that shows the time of the execution. Timers, and the time inside steps, come from the clock
   * `base`.
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

  /** True for a clock of this execution. */
  has(clock: Clock): boolean {
    return this.bases.has(clock);
  }

  /** Returns the clock of the agent of a run. */
  baseOf(run: Run | undefined): Clock {
    return (run && this.bases.get(run.context.clock)) ?? this.first ?? systemClock;
  }

  /** Sets the time at the end of a step. */
  advance(at: number): void {
    this.now = Math.max(this.now, at);
  }
}
