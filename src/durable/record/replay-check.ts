import type { Run } from '../../agent/run/run.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { ReplayMismatchError } from '../error.js';
import type { Step } from '../step.js';

/** Checks that the program matches the stored steps of an execution. */
export class ReplayCheck {
  /** The runs that have done new work in this attempt, so that no stored step of them follows. */
  private readonly fresh = new WeakSet<Run>();
  private refused: ReplayMismatchError | undefined = undefined;

  constructor(private readonly step: Step) {}

  get hasRefused(): boolean {
    return this.refused !== undefined;
  }

  /** Called when a run does work that is not a stored step. */
  begin(run: Run): void {
    this.fresh.add(run);
  }

  /** Called with the error that ends this attempt. */
  end(error: unknown): void {
    if (error instanceof ReplayMismatchError) this.refused ??= error;
  }

  /** Calls `refuse` of the engine if the program was refused. Otherwise resolves at once. */
  async keep(): Promise<void> {
    if (this.refused !== undefined) await this.step.refuse?.(this.refused);
  }

  /** True if further stored steps of the run are possible. */
  mayFollow(run: Run): boolean {
    return this.step.unread !== undefined && !this.fresh.has(run);
  }

  /**
   * Refuses the program if a stored step of a run comes after the run's end. Rejects with the error that `lose`
   * returns.
   */
  async atEnd({ run, number, caught }: EndedRun, lose: (error: ReplayMismatchError) => unknown): Promise<void> {
    const names = (await this.step.unread?.()) ?? [];
    const stored = names.find((name) => isBeforeEnd(name, number));
    // An abort may end an attempt at any step.
    if (stored === undefined || run.end.abortError !== undefined) return;
    const lost = lose(new ReplayMismatchError('the end of the run', stored, verdictOf(run) ?? caught));
    await this.keep();
    throw lost;
  }
}

/** A run that ends. */
interface EndedRun {
  readonly run: Run;
  /** The number of the run in the names of its steps. */
  readonly number: number;
  /** The error of a failed run. */
  readonly caught: unknown;
}

function verdictOf({ end: { verdict } }: Run): RejectedError | undefined {
  if (verdict?.action.type !== 'reject') return undefined;
  return new RejectedError(verdict.action.reason, verdict.by, verdict.point);
}

/** True if the step with this name belongs to the run of this number and comes before its end. */
function isBeforeEnd(step: string, run: number): boolean {
  const [, name = '', number = '1'] = /^(.*?)(?:, run (\d+))?$/.exec(step) ?? [];
  if (Number(number) !== run || /^hook .*\.(afterAgent|onError) \d+$/.test(name)) return false;
  return /^(start$|model \d|aside \d|wait after |hook |tool |tools \d)/.test(name);
}
