import type { Usage } from '../../model/model.js';
import type { RunContext } from '../run-context.js';
import { hookRunOf } from './hook-run.js';

/** A budget for the model calls of all runs inside of a run. */
export interface Budget {
  /** The name of the lifecycle. */
  readonly by: string;
  /** Called before a model call. Returns the reason to refuse the call, or a function that gets the usage of the call. */
  admit(model: string): string | ((usage: Usage | undefined) => void);
}

const BUDGETS = Symbol.for('keelson.budgets');

/** Adds a budget to a run. */
export function addBudget(run: RunContext, budget: Budget): void {
  const hookRun = hookRunOf(run) as { [BUDGETS]?: readonly Budget[] } | undefined;
  if (hookRun !== undefined) hookRun[BUDGETS] = [...(hookRun[BUDGETS] ?? []), budget];
}

/** Returns the budgets of a run and of the runs around it. */
export function budgetsOf(run: { readonly parent?: object | undefined } | undefined): readonly Budget[] {
  if (run === undefined) return [];
  const { [BUDGETS]: own = [] } = (hookRunOf(run) ?? {}) as { readonly [BUDGETS]?: readonly Budget[] };
  return [...own, ...budgetsOf(run.parent)];
}
