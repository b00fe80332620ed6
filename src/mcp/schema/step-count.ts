/** Thrown when a count of steps exceeds its limit. */
class StepLimitError extends RangeError {}

/** Counts the steps of one check. */
export class StepCount {
  constructor(private left: number) {}

  /** Adds steps. Throws a StepLimitError if the limit is exceeded. */
  add(steps: number): void {
    this.left -= steps;
    // The negation also catches NaN.
    if (!(this.left >= 0)) throw new StepLimitError('The check takes too many steps.');
  }

  /** Called for a part whose steps have no known bound. Always throws a StepLimitError. */
  addUnknown(): never {
    throw new StepLimitError('The check takes an unknown number of steps.');
  }

  /**
   * Adds one step for each value inside a JSON value, and for each character of a string or of a property name. Adds
   * this size `times` times.
   */
  addSize(value: unknown, times = 1): void {
    const open: unknown[] = [value];
    while (open.length > 0) {
      const next = open.pop();
      this.add(typeof next === 'string' ? times * (1 + next.length) : times);
      if (typeof next !== 'object' || next === null) continue;
      const keys = Object.keys(next);
      // Added before the loop, so that a large object ends the count before its members are visited.
      this.add(times * keys.length);
      for (const key of keys) {
        this.add(times * key.length);
        open.push((next as Record<string, unknown>)[key]);
      }
    }
  }
}

/** Runs `work`. Returns false if a count of steps exceeds its limit, or if `work` exceeds the stack. */
export function isWithin(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
