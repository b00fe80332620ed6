import { Stop } from '../internal/stop.js';
import { RUN } from '../lifecycle/hook-run.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import type { AnyRunOptions } from './agent-options.js';
import { type Attached, RunView } from './run/run.js';

/** A run that has not started. */
export interface WaitingRun {
  readonly options: AnyRunOptions;
  readonly attached: Attached;
  /** Stopped as the agent is closed. */
  readonly life: Stop;
}

/** Waits for something before a run can start; an abort meanwhile ends the wait with a RunAbortedError. */
export async function waitBeforeRun<T>(promise: Promise<T>, { options, attached, life }: WaitingRun): Promise<T> {
  const stop = new Stop();
  stop.follow(options.signal);
  stop.follow(attached.left);
  stop.followStop(life);
  if (options.parent instanceof RunView) stop.followStop(options.parent[RUN].end.stopper());
  try {
    return await stop.race(promise);
  } catch (error) {
    if (life.stopped) throw life.reason;
    throw stop.stopped ? new RunAbortedError(stop.reason) : error;
  } finally {
    stop.release();
  }
}
