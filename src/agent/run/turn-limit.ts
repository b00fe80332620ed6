import { counted } from '../../internal/names-text.js';
import type { Budget, BudgetedCall, HookRun } from '../../lifecycle/hook-run/hook-run.js';
import type { RunPosts } from './run-posts.js';

/** Counts the turns of the nested runs, for `maxTurns.total`. */
class TurnBudget implements Budget {
  readonly by = 'maxTurns';
  /** The number of turns of the nested runs. */
  inside = 0;

  constructor(private readonly run: { readonly agent: string; readonly total: number; readonly own: () => number }) {}

  /** The number of turns that are left for the run and its nested runs together. */
  get left(): number {
    return this.run.total - this.run.own() - this.inside;
  }

  admit({ beginsTurn }: BudgetedCall): string | (() => void) {
    const { agent, total } = this.run;
    if (beginsTurn && this.left <= 0)
      return `The run of agent "${agent}" reached its limit of ${counted(total, 'turn')} in total.`;
    if (beginsTurn) this.inside += 1;
    return () => {};
  }
}

/** Limits the turns of the run together with its nested runs, for `maxTurns.total`. */
export function limitTurns(run: HookRun & { readonly config: { readonly agent: string } }, total: number): void {
  const own = () => run.turn?.modelCalls ?? 0;
  run.budgets = [new TurnBudget({ agent: run.config.agent, total, own })];
}

/** Returns the number of turns of the nested runs. */
export function turnsInside(run: object): number {
  const { budgets = [] } = run as Pick<HookRun, 'budgets'>;
  const budget = budgets.find((one) => one instanceof TurnBudget);
  return budget?.inside ?? 0;
}

/** The members of a run that limit its turns. */
interface LimitedRun extends Pick<HookRun, 'budgets'> {
  readonly config: { readonly maxTurns: number; readonly totalTurns: number | undefined };
  readonly attached: { readonly recorder?: { readonly posts: RunPosts } | undefined };
}

/**
 * Returns the number of turns that may call the model. Adds the model calls that urgent messages abandoned, because
 * these do not count.
 */
export function turnLimitOf(run: LimitedRun): number {
  const { config, attached } = run;
  const { maxTurns, totalTurns } = config;
  const own = totalTurns === undefined ? maxTurns : Math.min(maxTurns, totalTurns - turnsInside(run));
  return own + (attached.recorder?.posts.steers ?? 0);
}
