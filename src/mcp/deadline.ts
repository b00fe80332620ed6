import type { Clock } from '../internal/clock.js';

/** Whether a person is being asked, and the time limits that do not run out meanwhile. */
export class Hold {
  private asked = 0;
  private readonly deadlines = new Set<Deadline>();

  constructor(readonly clock: Clock) {}

  get isHeld(): boolean {
    return this.asked > 0;
  }

  /** Waits for a person. Afterwards every limit of time begins anew. */
  readonly during = async <T>(work: () => Promise<T>): Promise<T> => {
    this.asked += 1;
    try {
      return await work();
    } finally {
      this.asked -= 1;
      for (const deadline of this.deadlines) deadline.restart();
    }
  };

  add(deadline: Deadline): void {
    this.deadlines.add(deadline);
  }

  delete(deadline: Deadline): void {
    this.deadlines.delete(deadline);
  }
}

/** A time limit that can start anew, and does not run out while a person is being asked. */
export class Deadline {
  private timer: unknown = undefined;

  constructor(
    private readonly ms: number,
    private readonly onEnd: () => void,
    private readonly hold: Hold,
  ) {
    hold.add(this);
    this.start();
  }

  restart(): void {
    this.hold.clock.clearTimeout(this.timer);
    this.start();
  }

  clear(): void {
    this.hold.delete(this);
    this.hold.clock.clearTimeout(this.timer);
  }

  private start(): void {
    this.timer = this.hold.clock.setTimeout(() => {
      if (!this.hold.isHeld) this.onEnd();
    }, this.ms);
  }
}
