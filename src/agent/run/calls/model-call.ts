import { RunEndedError, TimeoutExceededError } from '../../../errors.js';
import type { Awaitable } from '../../../internal/promise.js';
import { Stop } from '../../../internal/stop.js';
import type { HookRun } from '../../../lifecycle/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import { checkResponse } from '../../../model/check-response.js';
import type { ModelPart, ModelResponse } from '../../../model/model.js';
import { ModelError } from '../../../model/run-error.js';
import { addUsage } from '../../../model/usage.js';
import type { Run } from '../run.js';
import type { ResponseHandlers, Timeouts } from '../run-config.js';
import type { ModelStep } from './model-step.js';

/** The innermost step of `wrapModelCall`. Calls the model within its time limits and checks the response. */
export function callModel(request: ModelCallRequest, hookRun: HookRun): Promise<ModelResponse> {
  const run = hookRun as Run;
  if (run.end.over) return Promise.reject(run.end.abortError ?? new RunEndedError('next'));
  run.attempt += 1;
  const { modelMs, firstPartMs } = run.config.timeouts;
  const { step } = run;
  const isSignalled = step === undefined ? request.signal !== undefined : step.hasForeignSignal(request);
  const isWatched = run.end.stop !== undefined || isSignalled || request.onPart !== undefined;
  if (step !== undefined) step.busy += 1;
  return isWatched || modelMs !== undefined || firstPartMs !== undefined
    ? callWatched(run, request)
    : callUnwatched(run, request);
}

/** Calls without a step share two handlers. An async function would allocate 300 bytes more per call. */
function callUnwatched(run: Run, request: ModelCallRequest): Promise<ModelResponse> {
  const { model } = request;
  try {
    run.end.throwIfAborted();
    const isShared = run.step === undefined && model === run.config.model;
    if (isShared) run.handlers ??= handlersOf(run, model.id);
    const { accept, refuse } = (isShared ? run.handlers : undefined) ?? handlersOf(run, model.id);
    return Promise.resolve(model.generate(request)).then(accept, refuse);
  } catch (error) {
    endCall(run.step);
    return Promise.reject(modelFailure(run, model.id, error));
  }
}

function handlersOf(run: Run, model: string): ResponseHandlers {
  const { step, attempt } = run;
  const refuse = (error: unknown): never => {
    endCall(step);
    throw modelFailure(run, model, error);
  };
  const accept = (response: ModelResponse) => {
    try {
      const accepted = acceptResponse(run, response);
      endCall(step, attempt, accepted);
      return accepted;
    } catch (error) {
      return refuse(error);
    }
  };
  return { accept, refuse };
}

async function callWatched(run: Run, request: ModelCallRequest): Promise<ModelResponse> {
  const { step, attempt } = run;
  const gate = { attempt, turn: run.turn, open: true };
  let response: ModelResponse | undefined;
  try {
    run.end.throwIfAborted();
    const gated = request.onPart === undefined ? request : gateParts(run, request, gate);
    response = acceptResponse(run, await generate(run, gated));
    return response;
  } catch (error) {
    throw modelFailure(run, request.model.id, error);
  } finally {
    gate.open = false;
    endCall(step, attempt, response);
  }
}

function endCall(step: ModelStep | undefined, attempt = 0, response?: ModelResponse): void {
  if (step === undefined) return;
  step.busy -= 1;
  if (response !== undefined) step.responses[attempt] = response;
}

/** True if the model can be called directly: no hook, no listener, no signal and no time limit. */
export function isPlainCall(run: Run): boolean {
  return run.config.isPlain && run.end.stop === undefined && !run.listeners.active;
}

/** Checks a response and adds its usage to the run. */
export function acceptResponse(run: Run, response: ModelResponse): ModelResponse {
  run.end.throwIfAborted();
  checkResponse(response);
  // After the end of the run, its result already has the sum.
  if (!run.end.over) addUsage(run.usage, response.usage);
  return response;
}

/** Returns the error to throw for a failed model call: the abort, an error that names its source, or a ModelError. */
export function modelFailure(run: Run, model: string, error: unknown): unknown {
  if (run.end.abortError !== undefined) return run.end.abortError;
  if (run.end.owns(error)) return error;
  return run.end.own(
    error instanceof ModelError ? new ModelError(error.model, error.cause) : new ModelError(model, error),
  );
}

interface PartGate {
  readonly attempt: number;
  readonly turn: number;
  readonly open: boolean;
}

/** Drops parts that arrive after the response, or from an attempt that a hook has abandoned. */
function gateParts(run: Run, request: ModelCallRequest, gate: PartGate): ModelCallRequest {
  return {
    ...request,
    onPart(part) {
      if (
        gate.open &&
        run.asking &&
        run.turn === gate.turn &&
        run.attempt === gate.attempt &&
        run.end.abortError === undefined
      ) {
        request.onPart?.(part);
      }
    },
  };
}

function generate(run: Run, request: ModelCallRequest): Awaitable<ModelResponse> {
  const { modelMs, firstPartMs } = run.config.timeouts;
  // A hook may have set its own signal in the request; then both signals apply.
  const shared = run.step === undefined ? run.end.stop : run.step.stop;
  const isLimited = modelMs !== undefined || firstPartMs !== undefined || request.signal !== shared?.signal;
  return isLimited ? generateInTime(run, request) : run.end.race(request.model.generate(request));
}

async function generateInTime(run: Run, request: ModelCallRequest): Promise<ModelResponse> {
  const stop = new Stop();
  stop.follow(request.signal);
  const shared = run.step?.stop ?? run.end.stop;
  if (shared !== undefined) stop.followStop(shared);
  const gotPart = startTimers(run, stop);
  const onPart = (part: ModelPart) => {
    gotPart();
    request.onPart?.(part);
  };
  // A model that does not stream gives its first part with the response.
  const watched = run.config.timeouts.firstPartMs === undefined ? {} : { onPart };
  try {
    if (stop.stopped) throw stop.reason;
    return await stop.race(request.model.generate({ ...request, ...watched, signal: stop.signal }));
  } finally {
    stop.release();
  }
}

/** Starts the timers of one model call. Returns a function that stops the timer for the first part. */
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
