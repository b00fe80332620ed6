import { AgentClosedError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { Stop } from '../internal/stop.js';
import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import { RunTimeoutError } from './run-result.js';

/** Signals that can abort a run while it waits to start. */
interface WaitingRun {
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the consumer leaves the stream of the run. */
  readonly left?: AbortSignal | undefined;
  readonly parent?: object | undefined;
  /** Stopped at `timeouts.runMs`, with a RunTimeoutError. */
  readonly limit?: Stop | undefined;
}

/**
 * State that all runs of an agent share.
 *
 * The agent keeps no list of its runs, because adding a run to a long-lived list takes a tenth of the time of a run.
 * Instead, each run follows `stop`.
 */
export class AgentLife {
  /** Stopped when the agent is closed. */
  readonly stop = new Stop();
  /** False once the agent drains or is closed. It then starts only runs that are part of an active run. */
  isOpen = true;
  runs = 0;
  /** The number of active promises passed to `track`: loading, and session hooks. */
  private busy = 0;
  private whenIdle: (() => void) | undefined = undefined;

  constructor(private readonly agent: string) {}

  /** Throws an AgentClosedError once the agent drains or is closed. */
  assertOpen(): void {
    if (!this.isOpen) throw new AgentClosedError(this.agent);
  }

  endRun(): void {
    this.runs -= 1;
    if (this.whenIdle !== undefined) this.checkIdle();
  }

  /** Makes `close` wait for `work`. */
  track(work: Promise<void>): Promise<void> {
    this.busy += 1;
    return work.finally(() => {
      this.busy -= 1;
      this.checkIdle();
    });
  }

  /**
   * Aborts the runs, and waits up to `limitMs` for runs and tracked work. A tool that ignores its signal may still run
   * afterwards.
   */
  close(clock: Clock, limitMs: number): Promise<void> {
    this.stop.stop(new AgentClosedError(this.agent));
    return this.idle(clock, limitMs);
  }

  /** Waits up to `limitMs` for runs and tracked work. */
  idle(clock: Clock, limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, limitMs);
      this.whenIdle = () => resolve(clock.clearTimeout(timer));
      this.checkIdle();
    });
  }

  /** Awaits `promise` before a run starts. Rejects with a RunError if the run is aborted or times out first. */
  async waitBeforeRun<T>(promise: Promise<T>, { signal, left, parent, limit }: WaitingRun): Promise<T> {
    const stop = new Stop();
    const abort = (reason: unknown) => stop.stop(new RunAbortedError(reason));
    stop.followStop(this.stop);
    if (limit !== undefined) stop.followStop(limit);
    stop.follow(signal, abort);
    stop.follow(left, abort);
    const outer = hookRunOf(parent);
    if (outer !== undefined) stop.followStop(outer.end.stopper(), abort);
    try {
      return await stop.race(promise);
    } finally {
      stop.release();
    }
  }

  private checkIdle(): void {
    if (this.runs + this.busy === 0) this.whenIdle?.();
  }
}

/** Starts the time limit `timeouts.runMs`. The returned Stop stops at the limit, with a RunTimeoutError. */
export function startLimit(runMs: number | undefined, clock: Clock): Stop | undefined {
  if (runMs === undefined) return undefined;
  const limit = new Stop();
  const handle = clock.setTimeout(() => limit.stop(new RunTimeoutError(runMs)), runMs);
  limit.whenReleased(() => clock.clearTimeout(handle));
  return limit;
}
