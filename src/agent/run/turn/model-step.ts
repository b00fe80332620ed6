import { Stop } from '../../../internal/stop.js';
import type { CallScope, HookRun } from '../../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import { hasSameSignal, LazyRequest, ownSignal } from '../../../model/lazy-signal.js';
import type { ModelResponse } from '../../../model/model.js';

/**
 * The model calls of one turn, from the start of the outermost `wrapModelCall` hook until it settles. Then the step is
 * closed: `next` rejects in hooks that are still running, and their model calls are aborted.
 */
export class ModelStep implements CallScope {
  open = true;
  busy = 0;
  /**
   * The responses by the number of their attempt. `TurnEvents` compares them, to find out which attempt the streamed
   * text came from.
   */
  responses: ModelResponse[] | undefined = undefined;
  private stopper: Stop | undefined = undefined;

  /** `request` is the request that the outermost hook receives. Without hooks, the model receives it. */
  constructor(
    readonly run: HookRun,
    public request: ModelCallRequest,
  ) {}

  /** Stopped when the run is aborted, or when the hooks have settled while a model call is still running. */
  get stop(): Stop {
    if (this.stopper === undefined) {
      this.stopper = new Stop();
      if (this.open) this.stopper.followStop(this.run.end.stopper());
      else this.abandon();
    }
    return this.stopper;
  }

  /** True if a hook replaced the signal of the request, or removed it. */
  hasForeignSignal(request: ModelCallRequest): boolean {
    return request !== this.request && !hasSameSignal(request, this.request);
  }

  record(attempt: number, response: ModelResponse): void {
    this.responses ??= [];
    this.responses[attempt] = response;
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    if (this.busy > 0) this.abandon();
  }

  private abandon(): void {
    this.stopper?.stop('the hooks around the model call have settled');
  }
}

/** Makes the step of a model call without hooks. */
export function plainStep(run: HookRun, request: ModelCallRequest): ModelStep {
  // If nothing can abort the run, the call gets no signal: creating a signal takes longer than a nested run.
  return run.end.stop === undefined ? new ModelStep(run, request) : wrappedStep(run, request);
}

/** Makes the step of a model call with hooks. The request creates its signal on first access. */
export function wrappedStep(run: HookRun, request: ModelCallRequest): ModelStep {
  const step = new ModelStep(run, request);
  step.request = new LazyRequest(request, step);
  // Skipped if nothing can abort the run, because defining the property takes as long as two empty hooks.
  if (run.end.stop !== undefined) ownSignal(step.request);
  return step;
}
