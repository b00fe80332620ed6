import { counted } from '../../internal/names-text.js';
import type { Budget, BudgetedCall } from '../../lifecycle/hook-run/hook-run.js';
import type { RunPosts } from './run-posts.js';

/** Counts the turns of the runs inside of a run, for `maxTurns.total`. */
export class TurnBudget implements Budget {
  readonly by = 'maxTurns';
  /** The number of turns inside. */
  inside = 0;

  constructor(private readonly run: { readonly agent: string; readonly total: number; readonly own: () => number }) {}

  /** The number of turns that are left for the run itself and all runs inside. */
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

/** The parts of a run that limit its turns. */
interface LimitedRun {
  readonly config: { readonly maxTurns: number; readonly totalTurns: number | undefined };
  readonly attached: { readonly recorder?: { readonly posts: RunPosts } | undefined };
  readonly turnBudget: TurnBudget | undefined;
}

/** The number of turns that may ask the model. Model calls that a message has abandoned do not count. */
export function turnLimitOf({ config, attached, turnBudget }: LimitedRun): number {
  const { maxTurns, totalTurns = maxTurns } = config;
  const own = Math.min(maxTurns, totalTurns - (turnBudget?.inside ?? 0));
  return own + (attached.recorder?.posts.steers ?? 0);
}
