import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work until other work gets the thread. */
const WORK_MS = 5;

/** Lets long work give the thread to other work every 5 ms. */
export class Pace {
  private since = performance.now();

  /** True if it is time for `rest`. */
  get isDue(): boolean {
    return performance.now() - this.since >= WORK_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.since = performance.now();
  }
}
