import type { Run } from '../../agent/run/run.js';
import { type Clock, withinMs } from '../../internal/clock.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';

/** Milliseconds that an aborted run waits until its steps are stored. */
const STORE_MS = 5_000;

/** The stops of runs. A stop takes effect in a step, so that a replay repeats it at the same place. */
export class RunStops {
  private readonly byId = new Map<string, Run>();
  /** The number of steps of each run that are running in this process. */
  private readonly working = new WeakMap<Run, number>();
  /** The steps that the engine has not stored yet, with their runs. */
  private readonly storing = new Map<Promise<unknown>, Run>();
  /** The stops that take effect in the next step of their run. */
  private readonly waiting = new WeakMap<Run, Error>();

  add(run: Run): void {
    if (run.attached.runId !== undefined) this.byId.set(run.attached.runId, run);
  }

  /** Aborts a run in its running steps, or in its next step that is not stored. */
  stop(id: string, error: Error): void {
    const run = this.byId.get(id);
    if (run === undefined) return;
    if ((this.working.get(run) ?? 0) > 0) run.end.abort(error);
    else this.waiting.set(run, error);
  }

  /**
   * Called before the work of a step, with its run and the enclosing runs. Returns true if one of these runs is
   * stopped.
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

  /** Called with the promise of a step, which settles once the engine has stored the step. */
  follow(run: Run, step: Promise<unknown>): void {
    this.storing.set(step, run);
    const forget = () => this.storing.delete(step);
    step.then(forget, forget);
  }

  /** Resolves when the engine has stored the open steps of an aborted run. Returns undefined without open steps. */
  stored(run: Run, clock: Clock): Promise<unknown> | undefined {
    const own = [...this.storing].filter(([, one]) => withRunsAround(one).includes(run));
    if (own.length === 0) return undefined;
    return withinMs(Promise.allSettled(own.map(([step]) => step)), STORE_MS, clock);
  }
}

/** Returns a run of this execution and its enclosing runs, innermost first. */
export function withRunsAround(run: Run | undefined): readonly Run[] {
  if (run === undefined) return [];
  const outer = hookRunOf(run.origin.parent) as Run | undefined;
  return outer?.effects === undefined ? [run] : [run, ...withRunsAround(outer)];
}
