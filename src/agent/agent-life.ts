import { AgentClosedError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { Stop } from '../internal/stop.js';
import { hookRunOf } from '../lifecycle/hook-run.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';

/** What may abort a run before it has started. */
interface WaitingRun {
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the consumer of a stream leaves it. */
  readonly left?: AbortSignal | undefined;
  readonly parent?: object | undefined;
}

/**
 * What a run shares with its agent while it lives. The agent keeps no list of its runs: writing a young run into an old
 * list costs as much as a tenth of a run. A run looks here instead.
 */
export class AgentLife {
  /** Stopped as the agent is closed. */
  readonly stop = new Stop();
  /** How many runs are going on. */
  runs = 0;
  /** How much else is: loading, and hooks of sessions. */
  private busy = 0;
  private whenIdle: (() => void) | undefined = undefined;

  constructor(private readonly agent: string) {}

  /** Throws AgentClosedError once the agent is closed. */
  assertOpen(): void {
    if (this.stop.stopped) throw new AgentClosedError(this.agent);
  }

  /** Takes note that a run ended. */
  endRun(): void {
    this.runs -= 1;
    if (this.whenIdle !== undefined) this.checkIdle();
  }

  /** Has the end of the agent wait for `work`. */
  track(work: Promise<void>): Promise<void> {
    this.busy += 1;
    return work.finally(() => {
      this.busy -= 1;
      this.checkIdle();
    });
  }

  /** Aborts the runs, and waits for them and for what is tracked, `limitMs` at most: not every tool heeds its signal. */
  close(clock: Clock, limitMs: number): Promise<void> {
    this.stop.stop(new AgentClosedError(this.agent));
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, limitMs);
      this.whenIdle = () => resolve(clock.clearTimeout(timer));
      this.checkIdle();
    });
  }

  /** Waits for something before a run can start; an abort meanwhile ends the wait with a RunAbortedError. */
  async waitBeforeRun<T>(promise: Promise<T>, { signal, left, parent }: WaitingRun): Promise<T> {
    const stop = new Stop();
    stop.follow(signal);
    stop.follow(left);
    stop.followStop(this.stop);
    const outer = hookRunOf(parent);
    if (outer !== undefined) stop.followStop(outer.end.stopper());
    try {
      return await stop.race(promise);
    } catch (error) {
      if (this.stop.stopped) throw this.stop.reason;
      throw stop.stopped ? new RunAbortedError(stop.reason) : error;
    } finally {
      stop.release();
    }
  }

  private checkIdle(): void {
    if (this.runs + this.busy === 0) this.whenIdle?.();
  }
}
