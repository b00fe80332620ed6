import { RunEndedError, TimeoutExceededError } from '../../../errors.js';
import type { Awaitable } from '../../../internal/promise.js';
import { Stop } from '../../../internal/stop.js';
import { budgetsOf } from '../../../lifecycle/hook-run/budgets.js';
import type { CallScope } from '../../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import { RejectedError } from '../../../lifecycle/run-failure.js';
import { checkResponse } from '../../../model/check-response.js';
import type { ModelPart, ModelResponse, Usage } from '../../../model/model.js';
import { ModelError } from '../../../model/run-error.js';
import { addUsage } from '../../../model/usage.js';
import type { Run } from '../run.js';
import type { ResponseHandlers, Timeouts } from '../run-config.js';

/** The innermost step of `wrapModelCall`. */
export function callModelStep(request: ModelCallRequest, { run }: CallScope): Promise<ModelResponse> {
  return callModel(request, run as Run);
}

/** Calls the model within its time limits and checks the response. */
export function callModel(request: ModelCallRequest, run: Run): Promise<ModelResponse> {
  if (run.end.over) return Promise.reject(run.end.abortError ?? new RunEndedError('next'));
  run.attempt += 1;
  const { modelMs, firstPartMs } = run.config.timeouts;
  const { step } = run;
  const isSignalled = step === undefined ? request.signal !== undefined : step.hasForeignSignal(request);
  const isWatched = run.end.stop !== undefined || isSignalled || request.onPart !== undefined;
  return isWatched || modelMs !== undefined || firstPartMs !== undefined
    ? callWatched(run, request)
    : callUnwatched(run, request);
}

/** Calls share two handlers, if nobody listens. An async function would allocate 300 bytes more per call. */
function callUnwatched(run: Run, request: ModelCallRequest): Promise<ModelResponse> {
  const { model } = request;
  try {
    run.end.throwIfAborted();
    const isShared = model === run.config.model && !run.listeners.active;
    if (isShared) run.handlers ??= handlersOf(run, model.id);
    const { accept, refuse } = (isShared ? run.handlers : undefined) ?? handlersOf(run, model.id);
    return Promise.resolve(model.generate(request)).then(accept, refuse);
  } catch (error) {
    return Promise.reject(modelFailure(run, model.id, error));
  }
}

function handlersOf(run: Run, model: string): ResponseHandlers {
  const { attempt } = run;
  const step = run.listeners.active ? run.step : undefined;
  const refuse = (error: unknown): never => {
    throw modelFailure(run, model, error);
  };
  const accept = (response: ModelResponse) => {
    try {
      const accepted = acceptResponse(run, response);
      step?.keep(attempt, accepted);
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
  try {
    run.end.throwIfAborted();
    const pay = askBudgets(run, request.model.id);
    const gated = request.onPart === undefined ? request : gateParts(run, request, gate);
    const response = acceptResponse(run, await generate(run, gated));
    pay(response.usage);
    if (run.listeners.active) step?.keep(attempt, response);
    return response;
  } catch (error) {
    throw modelFailure(run, request.model.id, error);
  } finally {
    gate.open = false;
  }
}

/** Asks the budgets of the outer runs. A nested run has an abort signal, so all of its model calls are watched. */
function askBudgets({ origin, end }: Run, model: string): (usage: Usage | undefined) => void {
  const payments = budgetsOf(origin.parent).map(({ by, admit }) => {
    const answer = admit(model);
    if (typeof answer === 'string') throw end.own(new RejectedError(answer, by, 'wrapModelCall'));
    return answer;
  });
  return (usage) => {
    for (const pay of payments) pay(usage);
  };
}

/** Checks a response and adds its usage to the run. */
export function acceptResponse(run: Run, response: ModelResponse): ModelResponse {
  run.end.throwIfAborted();
  checkResponse(response);
  // After the end of the run, its result already has the sum.
  if (!run.end.over) addUsage(run.usage, response.usage);
  if (run.step !== undefined) run.step.result = response;
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
    signal: request.signal,
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
  const { step, end } = run;
  // A hook may have set its own signal in the request; then both signals apply.
  const isForeign = step === undefined ? request.signal !== end.stop?.signal : step.hasForeignSignal(request);
  const isLimited = modelMs !== undefined || firstPartMs !== undefined || isForeign;
  return isLimited ? generateInTime(run, request) : end.race(request.model.generate(request));
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
