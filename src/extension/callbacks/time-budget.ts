/** The time that all callbacks of a run together may lose by exceeding their time limits. */
export class TimeBudget {
  private leftMs: number;

  constructor(totalMs: number) {
    this.leftMs = totalMs;
  }

  /** Returns the time limit of the next callback: at least 1 ms, since a timer needs a positive time. */
  limitFor(timeoutMs: number): number {
    return Math.max(1, Math.min(timeoutMs, this.leftMs));
  }

  /** Subtracts the time of a callback that has exceeded its limit. */
  spend(ms: number): void {
    this.leftMs -= ms;
  }
}
