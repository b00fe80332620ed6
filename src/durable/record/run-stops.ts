import type { Run } from '../../agent/run/run.js';
import { type Clock, withinMs } from '../../internal/clock.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';

/** How long an aborted run waits for its steps. */
const STORE_MS = 5_000;

/** The stops of runs. A run is stopped in a step, so that a replay stops it there. */
export class RunStops {
  private readonly byId = new Map<string, Run>();
  /** The number of steps of a run whose work is running in this process. */
  private readonly working = new WeakMap<Run, number>();
  /** The runs of the steps that the engine has not stored yet. */
  private readonly storing = new Map<Promise<unknown>, Run>();
  /** The stops that wait for the next step of their run. */
  private readonly waiting = new WeakMap<Run, Error>();

  add(run: Run): void {
    if (run.attached.runId !== undefined) this.byId.set(run.attached.runId, run);
  }

  /** Aborts a run in the steps that are running, or else in the next one that is not stored. */
  stop(id: string, error: Error): void {
    const run = this.byId.get(id);
    if (run === undefined) return;
    if ((this.working.get(run) ?? 0) > 0) run.end.abort(error);
    else this.waiting.set(run, error);
  }

  /** Called before the work of a step, with its run and the runs around it. Returns true if one of them is stopped. */
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

  /** Resolves once the engine has stored the open steps of an aborted run. Returns undefined if it has none. */
  stored(run: Run, clock: Clock): Promise<unknown> | undefined {
    const own = [...this.storing].filter(([, one]) => withRunsAround(one).includes(run));
    if (own.length === 0) return undefined;
    return withinMs(Promise.allSettled(own.map(([step]) => step)), STORE_MS, clock);
  }
}

/** Returns a run of this execution, and the runs around it, the next one first. */
export function withRunsAround(run: Run | undefined): readonly Run[] {
  if (run === undefined) return [];
  const outer = hookRunOf(run.origin.parent) as Run | undefined;
  return outer?.effects === undefined ? [run] : [run, ...withRunsAround(outer)];
}
