import type { Run } from '../../agent/run/run.js';
import { type Clock, withinMs } from '../../internal/clock.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';

/** Milliseconds that an aborted run waits for the engine to store its running steps. */
const STORE_MS = 5_000;

/**
 * Stops runs when somebody asks for it. A run is only stopped during a step, because the stored step then tells a
 * replay to stop at the same point.
 */
export class RunStops {
  private readonly byId = new Map<string, Run>();
  /** The number of steps that each run is executing in this process. */
  private readonly working = new WeakMap<Run, number>();
  /** The steps whose results the engine has not stored yet, with their runs. */
  private readonly storing = new Map<Promise<unknown>, Run>();
  /** The errors with which runs are to be aborted in their next step. */
  private readonly waiting = new WeakMap<Run, Error>();

  add(run: Run): void {
    if (run.attached.runId !== undefined) this.byId.set(run.attached.runId, run);
  }

  /** Aborts a run at once if it is executing a step. Otherwise aborts it in the next step that it executes. */
  stop(id: string, error: Error): void {
    const run = this.byId.get(id);
    if (run === undefined) return;
    if ((this.working.get(run) ?? 0) > 0) run.end.abort(error);
    else this.waiting.set(run, error);
  }

  /**
   * Called before a step is executed, with its run and the runs around it. Aborts the runs that are to be stopped, and
   * returns true if there is one.
   */
  enter(runs: readonly Run[]): boolean {
    let isStopped = false;
    for (const run of runs) {
      this.working.set(run, (this.working.get(run) ?? 0) + 1);
      const error = this.waiting.get(run);
      if (error === undefined) continue;
      isStopped = true;
      run.end.abort(error);
    }
    return isStopped;
  }

  leave(runs: readonly Run[]): void {
    for (const run of runs) this.working.set(run, (this.working.get(run) ?? 1) - 1);
  }

  /** Remembers a step until its promise settles, which means that the engine has stored it. */
  follow(run: Run, step: Promise<unknown>): void {
    this.storing.set(step, run);
    const forget = () => this.storing.delete(step);
    step.then(forget, forget);
  }

  /**
   * Resolves when the engine has stored the running steps of an aborted run, or after 5 seconds. Returns undefined if
   * no step is running.
   */
  stored(run: Run, clock: Clock): Promise<unknown> | undefined {
    const own = [...this.storing].filter(([, one]) => withRunsAround(one).includes(run));
    if (own.length === 0) return undefined;
    return withinMs(Promise.allSettled(own.map(([step]) => step)), STORE_MS, clock);
  }
}

/** Returns a run and the runs around it that belong to this execution, innermost first. */
export function withRunsAround(run: Run | undefined): readonly Run[] {
  if (run === undefined) return [];
  const outer = hookRunOf(run.origin.parent) as Run | undefined;
  return outer?.effects === undefined ? [run] : [run, ...withRunsAround(outer)];
}
