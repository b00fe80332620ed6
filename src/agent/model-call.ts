import { TimeoutExceededError } from '../errors.js';
import { Stop } from '../internal/stop.js';
import type { HookRun } from '../lifecycle/hook-run.js';
import type { ModelCallRequest } from '../lifecycle/lifecycle.js';
import { checkResponse } from '../model/check-response.js';
import type { ModelPart, ModelRequest, ModelResponse } from '../model/model.js';
import { ModelError } from '../model/run-error.js';
import type { Run } from './run.js';
import type { Timeouts } from './run-config.js';

/** The innermost step of `wrapModelCall`: calls the model, within its time, counts its usage and checks its response. */
export async function callModel(request: ModelCallRequest, hookRun: HookRun): Promise<ModelResponse> {
  const run = hookRun as Run;
  run.throwIfAborted();
  try {
    return acceptResponse(run, await generate(run, request));
  } catch (error) {
    throw modelFailure(run, request.model.id, error);
  }
}

/** Whether the model can be called without a watch on it: nobody listens, and nothing limits its time. */
export function isPlainCall(run: Run): boolean {
  const { modelMs, firstPartMs } = run.config.timeouts;
  return run.stop === undefined && modelMs === undefined && firstPartMs === undefined && !run.listening;
}

/** Counts a response's usage and checks its shape. */
export function acceptResponse(run: Run, response: ModelResponse): ModelResponse {
  run.throwIfAborted();
  checkResponse(response);
  run.total.add(response.usage);
  return response;
}

/** What the run makes of a model call that failed: an abort is an abort; anything else a ModelError. */
export function modelFailure(run: Run, model: string, error: unknown): unknown {
  if (run.abortError !== undefined) return run.abortError;
  if (run.owns(error)) return error;
  return run.own(error instanceof ModelError ? error : new ModelError(model, error));
}

function generate(run: Run, request: ModelCallRequest): PromiseLike<ModelResponse> {
  run.attempt += 1;
  const { modelMs, firstPartMs } = run.config.timeouts;
  const gated = gateParts(run, request);
  if (modelMs === undefined && firstPartMs === undefined) return run.race(request.model.generate(gated));
  return generateInTime(run, request.model.generate.bind(request.model), gated);
}

/** Drops the parts of an attempt that was given up for a later one, or that come after its response. */
function gateParts(run: Run, request: ModelCallRequest): ModelRequest {
  const { onPart } = request;
  if (onPart === undefined) return request;
  const { turn, attempt } = run;
  return {
    ...request,
    onPart(part) {
      if (run.turn === turn && run.attempt === attempt && run.abortError === undefined) onPart(part);
    },
  };
}

async function generateInTime(
  run: Run,
  call: (request: ModelRequest) => Promise<ModelResponse>,
  request: ModelRequest,
): Promise<ModelResponse> {
  const stop = new Stop();
  stop.follow(request.signal);
  const gotPart = startTimers(run, stop);
  const onPart = (part: ModelPart) => {
    gotPart();
    request.onPart?.(part);
  };
  // Without a part to wait for, the first part is the response itself.
  const watched = run.config.timeouts.firstPartMs === undefined ? {} : { onPart };
  try {
    return await run.race(stop.race(call({ ...request, ...watched, signal: stop.signal })));
  } finally {
    stop.release();
  }
}

/** Starts the timers of one model call; the function that it returns ends the wait for the first part. */
function startTimers(run: Run, stop: Stop): () => void {
  const { clock, timeouts } = run.config;
  const start = (ms: Timeouts['modelMs'], what: string) => {
    if (ms === undefined) return () => {};
    const handle = clock.setTimeout(() => stop.stop(new TimeoutExceededError(what, ms)), ms);
    const clear = () => clock.clearTimeout(handle);
    stop.whenReleased(clear);
    return clear;
  };
  start(timeouts.modelMs, 'model call');
  return start(timeouts.firstPartMs, "model call's first part");
}
