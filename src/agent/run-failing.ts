import pTimeout from 'p-timeout';
import { timersOf } from '../internal/clock.js';
import { isPromise } from '../internal/promise.js';
import type { Entry } from '../lifecycle/entry.js';
import { RunError } from '../model/run-error.js';
import type { Run } from './run.js';
import { endTurn } from './turn-events.js';

const ON_ERROR_MS = 5_000;

/**
 * Ends a run that failed: the events that are open get their end, every part that entered and has not had its
 * afterAgent gets onError, and the error gets what the run had done. Returns the error to throw.
 */
export async function failRun(run: Run, caught: unknown): Promise<unknown> {
  const error = run.abortError ?? caught;
  run.closing = true;
  endTurn(run);
  if (error instanceof RunError) error.attach(run.state());
  const handlers = run.config.chain.onError?.filter(({ index }) => index < run.entered && index >= run.exited);
  if (handlers !== undefined && handlers.length > 0) await callHandlers(run, handlers, error);
  if (run.listening) {
    run.emit({ type: 'run-error', runId: run.id, error });
    run.emit({ type: 'run-end', runId: run.id, result: undefined });
  }
  return error;
}

/** Called in order, awaited together, 5 s at most, whatever became of the run. What they throw is logged. */
async function callHandlers(run: Run, handlers: readonly Entry[], error: unknown): Promise<void> {
  const pending = handlers.map((entry) => callHandler(run, entry, error)).filter((promise) => promise !== undefined);
  if (pending.length === 0) return;
  const all = Promise.all(pending).then(() => undefined);
  await pTimeout(all, { milliseconds: ON_ERROR_MS, message: false, customTimers: timersOf(run.clock) });
}

function callHandler(run: Run, entry: Entry, error: unknown): PromiseLike<void> | undefined {
  const failed = (thrown: unknown) => run.logger.error(`onError of "${entry.name}" failed.`, thrown);
  if (entry.status.inert) return undefined;
  try {
    const returned = entry.lifecycle.onError?.(error, run as never);
    return isPromise(returned) ? returned.then(undefined, failed) : undefined;
  } catch (thrown) {
    failed(thrown);
    return undefined;
  }
}
