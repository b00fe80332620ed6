import type { Run } from '../../agent/run/run.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { ReplayMismatchError } from '../error.js';
import type { Step } from '../step.js';

/** Checks that the program takes the steps that the engine has stored in earlier attempts. */
export class ReplayCheck {
  /** The runs that have executed a step in this attempt. The engine has no stored steps of such a run left. */
  private readonly fresh = new WeakSet<Run>();
  private refused: ReplayMismatchError | undefined = undefined;

  constructor(private readonly step: Step) {}

  get hasRefused(): boolean {
    return this.refused !== undefined;
  }

  /** Records that a run executes a step itself, instead of getting a stored result. */
  begin(run: Run): void {
    this.fresh.add(run);
  }

  /** Records the error that ends this attempt, if it is a mismatch with the stored steps. */
  end(error: unknown): void {
    if (error instanceof ReplayMismatchError) this.refused ??= error;
  }

  /** Calls the engine's function `refuse` if this program does not match the stored steps. Otherwise does nothing. */
  async keep(): Promise<void> {
    if (this.refused !== undefined) await this.step.refuse?.(this.refused);
  }

  /** True if the engine may have stored steps of this run that the run has not reached. */
  mayFollow(run: Run): boolean {
    return this.step.unread !== undefined && !this.fresh.has(run);
  }

  /**
   * Called when a run ends. If the engine has stored a further step of this run, the program does not match. Then
   * rejects with the error that `lose` returns.
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

/** A run at its end. */
interface EndedRun {
  readonly run: Run;
  /** The number of the run in the execution, which is part of the names of its steps. */
  readonly number: number;
  /** The error of the run if it has failed. */
  readonly caught: unknown;
}

function verdictOf({ end: { verdict } }: Run): RejectedError | undefined {
  if (verdict?.action.type !== 'reject') return undefined;
  return new RejectedError(verdict.action.reason, verdict.by, verdict.point);
}

/** True if a step name belongs to this run, and the step comes before the hooks at the end of a run. */
function isBeforeEnd(step: string, run: number): boolean {
  const [, name = '', number = '1'] = /^(.*?)(?:, run (\d+))?$/.exec(step) ?? [];
  if (Number(number) !== run || /^hook .*\.(afterAgent|onError) \d+$/.test(name)) return false;
  return /^(start$|model \d|aside \d|wait after |hook |tool |tools \d)/.test(name);
}
