import { Stop } from '../../../internal/stop.js';
import type { CallScope, HookRun } from '../../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import type { RunContext } from '../../../lifecycle/run-context.js';
import { hasSameSignal, LazyRequest, ownSignal, type RequestFields } from '../../../model/lazy-signal.js';
import type { ModelResponse } from '../../../model/model.js';

/**
 * The model calls of one turn, from the start of the outermost `wrapModelCall` hook until it settles. Then the step is
 * closed: `next` rejects in hooks that are still running, and their model calls are aborted.
 */
export class ModelStep implements CallScope {
  readonly run: HookRun;
  open = true;
  busy = 0;
  /** The request that the outermost hook gets. Reading its `signal` creates the signal. */
  readonly request: ModelCallRequest;
  /** The responses by attempt. Text that one attempt has streamed is not taken for the text of another. */
  readonly responses: ModelResponse[] = [];
  private stopper: Stop | undefined = undefined;

  constructor(run: HookRun, fields: RequestFields<RunContext>) {
    this.run = run;
    this.request = new LazyRequest(fields, this);
    // Skipped if nothing can abort the run: defining the property takes as long as two empty hooks.
    if (run.end.stop !== undefined) ownSignal(this.request);
  }

  /** Stopped when the run is aborted, or when a hook left its model call behind. */
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

  close(): void {
    if (!this.open) return;
    this.open = false;
    if (this.busy > 0) this.abandon();
  }

  private abandon(): void {
    this.stopper?.stop('the hooks around the model call have settled');
  }
}
