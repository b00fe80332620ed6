import { TimeoutExceededError } from '../../errors.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { ModelRequest } from '../../model/model.js';

const IDLE_MS = 300_000;

/** A model request with a timer that aborts its stream when nothing arrives. */
export interface WatchedRequest extends ModelRequest {
  readonly idle: IdleWatch;
}

/**
 * Ends a stream that sends nothing for too long. Waiting begins with the first part of the response. Uses one timer,
 * which is not restarted for each part.
 */
export class IdleWatch {
  private readonly clock: Clock;
  private readonly idleMs: number;
  private timer: unknown = undefined;
  private heardAt = 0;

  constructor(
    request: ModelRequest,
    private readonly stop: (late: TimeoutExceededError) => void,
  ) {
    this.clock = clockOf(request);
    this.idleMs = request.idleMs ?? IDLE_MS;
  }

  /** Call this for each part of the response. Starts to wait, or restarts the wait. */
  hear(): void {
    this.heardAt = this.clock.now();
    if (this.timer === undefined) this.wait(this.idleMs);
  }

  /**
   * Call this for each event that is not a part of the response but shows that the provider still works. Restarts the
   * wait if it has begun.
   */
  hearMore(): void {
    if (this.timer !== undefined) this.heardAt = this.clock.now();
  }

  end(): void {
    this.clock.clearTimeout(this.timer);
  }

  private wait(ms: number): void {
    this.timer = this.clock.setTimeout(() => {
      const leftMs = this.heardAt + this.idleMs - this.clock.now();
      if (leftMs > 0) this.wait(leftMs);
      else this.stop(new TimeoutExceededError('wait for the next part of the response', this.idleMs));
    }, ms);
  }
}

/** Returns the clock of the run, or the system clock for a request outside a run. */
export function clockOf(request: ModelRequest & Partial<Pick<ModelCallRequest, 'run'>>): Clock {
  return request.run?.clock ?? systemClock;
}
