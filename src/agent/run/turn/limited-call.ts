import { TimeoutExceededError } from '../../../errors.js';
import { Stop } from '../../../internal/stop.js';
import type { Budget, BudgetedCall } from '../../../lifecycle/hook-run/hook-run.js';
import type { RunEnd } from '../../../lifecycle/hook-run/run-end.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import { RejectedError } from '../../../lifecycle/run-failure.js';
import type { ModelPart, ModelResponse, Usage } from '../../../model/model.js';
import type { Run } from '../run.js';
import type { RunConfig } from '../run-config.js';
import type { ModelStep } from './model-step.js';

/** Calls the model. Aborts the call at its time limits, when the run is aborted, or when the signal of a hook aborts. */
export async function generateInTime(request: ModelCallRequest, step: ModelStep): Promise<ModelResponse> {
  const { config } = step.run as Run;
  const stop = new Stop();
  stop.follow(request.signal);
  stop.followStop(step.stop);
  const gotPart = startTimers(config, stop);
  const onPart = (part: ModelPart) => {
    gotPart();
    request.onPart?.(part);
  };
  // A model that does not stream gives its first part with the response.
  const watched = config.timeouts.firstPartMs === undefined ? request.onPart : onPart;
  try {
    if (stop.stopped) throw stop.reason;
    return await stop.race(request.model.generate({ ...request, onPart: watched, signal: stop.signal }));
  } finally {
    stop.release();
  }
}

/** Starts the timers of one model call. Returns a function that stops the timer for the first part. */
function startTimers({ clock, timeouts }: RunConfig, stop: Stop): () => void {
  const start = (ms: number | undefined, what: string) => {
    if (ms === undefined) return () => {};
    const handle = clock.setTimeout(() => stop.stop(new TimeoutExceededError(what, ms)), ms);
    const clear = () => clock.clearTimeout(handle);
    stop.whenReleased(clear);
    return clear;
  };
  start(timeouts.modelMs, 'model call');
  return start(timeouts.firstPartMs, "model call's first part");
}

/**
 * Asks each budget before a model call. Throws a RejectedError if one refuses the call. Returns a function that reports
 * the usage of the call to the budgets.
 */
export function askBudgets(end: RunEnd, budgets: readonly Budget[], call: BudgetedCall): (usage: Usage) => void {
  const payments = budgets.map((budget) => {
    const answer = budget.admit(call);
    if (typeof answer === 'string') throw end.own(new RejectedError(answer, budget.by, 'wrapModelCall'));
    return answer;
  });
  return (usage) => {
    for (const pay of payments) pay(usage);
  };
}
