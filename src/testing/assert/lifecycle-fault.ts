import { KeelsonError } from '../../errors.js';

/** The checks of `assertLifecycle`. The option `skip` leaves checks out. */
export type LifecycleCheck =
  | 'shape'
  | 'answer'
  | 'tool-calls'
  | 'tool-errors'
  | 'model-errors'
  | 'time-outs'
  | 'streaming'
  | 'passive'
  | 'replay'
  | 'abort'
  | 'concurrency'
  | 'session'
  | 'shutdown';

/** Records a problem. Problems of one kind are listed as one fault, with the first message and their number. */
export type Report = (problem: string, kind?: string) => void;

/** One way in which a lifecycle breaks its contract. */
export interface LifecycleFault {
  /** The first check that found the fault. */
  readonly check: LifecycleCheck;
  /** The run in which the fault was found, such as `a run that calls tools`. */
  readonly run: string;
  readonly problem: string;
  /** The number of times that the fault was found. */
  readonly count: number;
}

/** Thrown if a lifecycle breaks its contract. Lists every fault with the check that found it. */
export class LifecycleFaultyError extends KeelsonError {
  readonly code = 'ERR_LIFECYCLE_FAULTY';
  readonly lifecycle: string;
  readonly faults: readonly LifecycleFault[];

  constructor(lifecycle: string, faults: readonly LifecycleFault[]) {
    super(`Lifecycle "${lifecycle}" breaks its contract:${faults.map(describeFault).join('')}`);
    this.lifecycle = lifecycle;
    this.faults = faults;
  }
}

/** The checks of `assertLifecycle` took longer than `budgetMs`. Names the check that was running. */
export class LifecycleBudgetError extends KeelsonError {
  readonly code = 'ERR_LIFECYCLE_BUDGET';
  readonly lifecycle: string;
  /** The check that was running. */
  readonly check: LifecycleCheck;
  /** The run in progress, such as `a run that calls tools`. */
  readonly run: string;
  /** The faults that were found before the time limit. */
  readonly faults: readonly LifecycleFault[];

  constructor(state: Pick<LifecycleBudgetError, 'lifecycle' | 'check' | 'run' | 'faults'>, budgetMs: number) {
    const { lifecycle, check, run, faults } = state;
    const found = faults.length === 0 ? '' : ` Faults found before:${faults.map(describeFault).join('')}`;
    super(
      `The checks of lifecycle "${lifecycle}" took longer than \`budgetMs\` (${budgetMs} ms): "${check}" was running (${run}). ` +
        `Make the lifecycle faster, raise \`budgetMs\`, lower \`runs\`, or leave the check out with \`skip: ['${check}']\`.${found}`,
    );
    this.lifecycle = lifecycle;
    this.check = check;
    this.run = run;
    this.faults = faults;
  }
}

function describeFault({ check, run, problem, count }: LifecycleFault): string {
  const times = count > 1 ? ` (${count} times)` : '';
  return `\n- ${check} (${run}): ${problem}${times}`;
}
