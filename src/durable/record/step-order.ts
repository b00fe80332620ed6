import { setImmediate as nextTask } from 'node:timers/promises';

/** A step that has begun, and whose result its run has not got. */
export interface OpenStep {
  /** True once the engine has called the work in this attempt. The engine calls it only without a stored result. */
  isRunning: boolean;
  /** The number of the result. Undefined until the work has ended. */
  number: number | undefined;
  /** Gives the result to the run. Undefined until the engine has stored the result. */
  give: (() => void) | undefined;
}

/**
 * Gives the results of parallel steps to their runs in the order in which the steps ended. Each result is stored with its
 * position in that order. A replay gives them in the same order, so the runs begin their next steps in the same order. If the
 * engine keeps the order itself, no result waits here.
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

  /** Called when the engine calls the work of the step. */
  run(step: OpenStep): void {
    step.isRunning = true;
    if (this.open.size > 1) void this.giveReady();
  }

  /** Called when the work of the step has ended. Returns the number of its result. */
  number(step: OpenStep): number {
    this.last += 1;
    step.number = this.last;
    return this.last;
  }

  /** Called when the engine has stored the result. Returns a promise if the step must wait for others. */
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

  /** Called when the step has failed without a result. */
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
      // The run may begin its next step, whose result may come before the others.
      await nextTask();
    }
    this.isGiving = false;
  }

  /** Returns the step with the lowest number. Undefined while the engine may still give a stored result with a lower one. */
  private first(): OpenStep | undefined {
    let first: OpenStep | undefined;
    for (const step of this.open) {
      if (step.number === undefined && !step.isRunning) return undefined;
      if (step.number !== undefined && step.number < (first?.number ?? Number.POSITIVE_INFINITY)) first = step;
    }
    return first;
  }
}
