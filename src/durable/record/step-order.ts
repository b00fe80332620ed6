import { setImmediate as nextTask } from 'node:timers/promises';

/** A step that has begun and whose result has not been returned to its run. */
export interface OpenStep {
  /**
   * True if the function of the step has been called in this attempt. An engine calls it only if it has no stored
   * result.
   */
  isRunning: boolean;
  /** The position of the result in the order in which steps ended. Undefined until the step has ended. */
  number: number | undefined;
  /** Returns the result to the run. Undefined until the engine has stored the result. */
  give: (() => void) | undefined;
}

/**
 * Returns the results of parallel steps to their runs in the order in which the steps ended. This order is stored with
 * the results.
 *
 * A replay returns the results in the same order, so that the runs begin their next steps in the same order. If the
 * engine keeps the order itself, no result waits.
 */
export class StepOrder {
  private readonly open = new Set<OpenStep>();
  private last = 0;
  private isGiving = false;

  constructor(private readonly isKeptByEngine = false) {}

  begin(): OpenStep {
    const step: OpenStep = { isRunning: false, number: undefined, give: undefined };
    this.open.add(step);
    return step;
  }

  /** Called when the engine calls the function of the step. */
  run(step: OpenStep): void {
    step.isRunning = true;
    if (this.open.size > 1) void this.giveReady();
  }

  /** Called when the function of a step has ended. Returns the position of its result in the order of all results. */
  number(step: OpenStep): number {
    this.last += 1;
    step.number = this.last;
    return this.last;
  }

  /**
   * Called when the engine has stored or found the result. Returns a promise if results with a lower position must be
   * returned first.
   */
  turn(step: OpenStep, number: number): Promise<void> | undefined {
    this.last = Math.max(this.last, number);
    step.number = number;
    const isAlone = this.open.size === 1 && !this.isGiving;
    if (isAlone || this.isKeptByEngine) return void this.open.delete(step);
    return new Promise((resolve) => {
      step.give = resolve;
      void this.giveReady();
    });
  }

  /** Removes a step that ended without a stored result, so that other results do not wait for it. */
  leave(step: OpenStep): void {
    this.open.delete(step);
    void this.giveReady();
  }

  private async giveReady(): Promise<void> {
    if (this.isGiving) return;
    this.isGiving = true;
    for (let step = this.first(); step?.give !== undefined; step = this.first()) {
      this.open.delete(step);
      step.give();
      // Lets the run begin its next step, whose result may have to be returned before the others.
      await nextTask();
    }
    this.isGiving = false;
  }

  /**
   * Returns the open step with the lowest position. Returns undefined while the engine may still find a stored result
   * with a lower position.
   */
  private first(): OpenStep | undefined {
    let first: OpenStep | undefined;
    for (const step of this.open) {
      if (step.number === undefined && !step.isRunning) return undefined;
      if (step.number !== undefined && step.number < (first?.number ?? Number.POSITIVE_INFINITY)) first = step;
    }
    return first;
  }
}
