import { type Clock, withinTime } from '../../internal/clock.js';
import { createDeferred } from '../../internal/promise.js';
import { UISessionBusyError } from '../error.js';

/** The most requests of one session that wait at the same time. */
const MAX_WAITING = 8;

/** A run of a session, from before it starts until its session is closed. */
export interface ActiveRun {
  /** Aborts the run. */
  readonly abort: AbortController;
  /** Resolves when the run has left. */
  readonly ended: Promise<void>;
  /** Lets the next run of the session start. */
  leave(): void;
}

/** The runs of one session: the active run, and those that wait for it. */
interface Lane {
  tail: Promise<void>;
  size: number;
  active: ActiveRun | undefined;
}

/** Lets one run of a session be active at a time. */
export class ActiveRuns {
  private readonly lanes = new Map<string, Lane>();

  constructor(
    private readonly queueMs: number,
    private readonly clock: Clock,
  ) {}

  /** True if a run of the session is active. */
  has(session: string): boolean {
    return this.lanes.has(session);
  }

  /** Waits for the active run of the session. Throws a UISessionBusyError if the run does not end within `queueMs`. */
  async enter(session: string): Promise<ActiveRun> {
    const { queueMs, lanes } = this;
    const lane = lanes.get(session) ?? { tail: Promise.resolve(), size: 0, active: undefined };
    if (lane.size > (queueMs === 0 ? 0 : MAX_WAITING)) throw new UISessionBusyError(queueMs);
    const before = lane.tail;
    const left = createDeferred<void>();
    const ended = before.then(() => left.promise).then(() => this.end(session, lane));
    const run = { abort: new AbortController(), ended, leave: () => left.resolve() };
    lanes.set(session, lane);
    lane.tail = ended;
    lane.size += 1;
    try {
      if (lane.size > 1) await withinTime(before, new UISessionBusyError(queueMs), this.clock);
    } catch (error) {
      run.leave();
      throw error;
    }
    lane.active = run;
    return run;
  }

  /** Aborts the active run of the session, and resolves when the run has ended. Returns false without a run. */
  async stop(session: string): Promise<boolean> {
    const active = this.lanes.get(session)?.active;
    if (active === undefined) return false;
    active.abort.abort('the answer was stopped');
    await active.ended;
    return true;
  }

  private end(session: string, lane: Lane): void {
    lane.size -= 1;
    lane.active = undefined;
    if (lane.size === 0) this.lanes.delete(session);
  }
}
