import { RunEndedError } from '../../../errors.js';
import type { Awaitable } from '../../../internal/promise.js';
import { type Budget, budgetsOf, type CallScope, isAside } from '../../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import type { ModelPart, ModelResponse } from '../../../model/model.js';
import { ModelError, ResponseInvalidError } from '../../../model/run-error.js';
import { isEmpty, wholeResponse } from '../../../model/whole-response.js';
import type { Run } from '../run.js';
import type { ModelStep } from './model-step.js';

/**
 * The innermost step of `wrapModelCall`: calls the model within its time limits, completes the response, and counts the
 * tokens.
 *
 * Rejects with the error of an aborted run, with a RejectedError of a budget, or with a ModelError.
 */
export async function callModel(request: ModelCallRequest, scope: CallScope): Promise<ModelResponse> {
  const step = scope as ModelStep;
  const run = step.run as Run;
  if (run.end.over) throw run.end.abortError ?? new RunEndedError('next');
  const attempt = (!isAside(request) && run.turn?.nextAttempt()) || 0;
  const gate = request.onPart === undefined ? undefined : new PartGate(request, step, attempt);
  step.busy += 1;
  const watched = run.listeners.watch?.startModelCall(run, request, attempt);
  try {
    run.end.throwIfAborted();
    const budgets = budgetsOver(run);
    const pay =
      budgets.length === 0
        ? undefined
        : (await limits()).askBudgets(run.end, budgets, { model: request.model.id, beginsTurn: attempt === 1 });
    const generated = await generate(gate?.request ?? request, step);
    if (gate?.failure !== undefined) throw gate.failure;
    const response = acceptResponse(run, generated);
    pay?.(response.usage);
    if (run.listeners.active) step.record(attempt, response);
    watched?.({ response });
    const { watch } = run.listeners;
    const hearsMisses = (watch ?? scope.run.onReport) !== undefined || run.listeners.hears('cache-miss');
    if (attempt > 0 && response.usage.cachedInputTokens !== undefined && hearsMisses) {
      await watchCache(run, request, response);
    }
    return response;
  } catch (error) {
    // The hooks have abandoned a call after the step closed, so nobody can repeat its failure.
    const failure = step.open ? failureOf(run, request.model.id, gate?.failure ?? error) : new RunEndedError('next');
    watched?.({ error: failure });
    throw failure;
  } finally {
    gate?.close();
    step.busy -= 1;
  }
}

/** Imports the code on first use, because most runs have no listener for `cache-miss`. */
async function watchCache(run: Run, request: ModelCallRequest, { usage }: ModelResponse): Promise<void> {
  const { reportCacheMiss } = await import('./cache-miss.js');
  reportCacheMiss(run, request, usage);
}

/**
 * True if the model call has no hooks, listeners, parent, abort signal or time limit. The run loop then awaits the promise of the
 * model itself, which saves a fifth of the time of a turn.
 */
export function isPlainCall({ config, end, listeners, origin }: Run): boolean {
  const { modelMs, firstPartMs } = config.timeouts;
  const isWatched =
    end.stop !== undefined ||
    origin.parent !== undefined ||
    listeners.active ||
    modelMs !== undefined ||
    firstPartMs !== undefined;
  return config.chain.wrapModelCall === undefined && !isWatched;
}

/** Fills in missing members of a response, and counts its tokens. Throws if the response is invalid or empty. */
export function acceptResponse(run: Run, given: ModelResponse): ModelResponse {
  run.end.throwIfAborted();
  const response = wholeResponse(given);
  run.spend(response.usage);
  if (isEmpty(response)) throw new ResponseInvalidError('it has no text and no tool call', response, 'empty');
  return response;
}

/**
 * Returns the error to throw for a failed model call. Wraps an error of the model in a ModelError; an abort and an
 * error that a hook must not be blamed for stay as they are.
 */
export function failureOf(run: Run, model: string, error: unknown): unknown {
  if (run.end.abortError !== undefined) return run.end.abortError;
  if (run.end.owns(error)) return error;
  return run.end.own(
    error instanceof ModelError ? new ModelError(error.model, error.cause) : new ModelError(model, error),
  );
}

/** Returns the budgets that other agents set for this run: earlier agents before a handover, and all enclosing runs. */
export function budgetsOver({ config, origin }: Run): readonly Budget[] {
  const outer = budgetsOf(origin.parent);
  return config.part === undefined ? outer : [...config.part.budgets, ...outer];
}

/**
 * Drops parts that arrive after the response, after a failure of their receiver, or from a model call that a hook has
 * abandoned.
 */
class PartGate {
  readonly request: ModelCallRequest;
  /** The error of the receiver of the parts. A model may have caught or wrapped it. */
  failure: unknown = undefined;
  private open = true;

  constructor(request: ModelCallRequest, step: ModelStep, attempt: number) {
    const { turn, end } = step.run as Run;
    const onPart = (part: ModelPart) => {
      const isCurrent = this.open && step.open && turn?.attempt === attempt;
      if (!isCurrent || end.abortError !== undefined) return;
      try {
        request.onPart?.(part);
      } catch (error) {
        this.open = false;
        this.failure = error;
        throw error;
      }
    };
    this.request = { ...request, signal: request.signal, onPart };
  }

  close(): void {
    this.open = false;
  }
}

function generate(request: ModelCallRequest, step: ModelStep): Awaitable<ModelResponse> {
  const { config, end } = step.run as Run;
  const { modelMs, firstPartMs } = config.timeouts;
  const isLimited = modelMs !== undefined || firstPartMs !== undefined || step.hasForeignSignal(request);
  return isLimited ? generateInTime(request, step) : end.race(request.model.generate(request));
}

async function generateInTime(request: ModelCallRequest, step: ModelStep): Promise<ModelResponse> {
  return (await limits()).generateInTime(request, step);
}

/** Imports the code on first use, because most model calls have no limit. */
function limits(): Promise<typeof import('./limited-call.js')> {
  return import('./limited-call.js');
}
