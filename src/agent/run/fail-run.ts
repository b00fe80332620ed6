import { describeError, TimeoutExceededError } from '../../errors.js';
import { withinTime } from '../../internal/clock.js';
import { logFailure } from '../../internal/logger.js';
import type { Awaitable } from '../../internal/promise.js';
import type { Verdict } from '../../lifecycle/hook-run.js';
import type { RegisteredLifecycle } from '../../lifecycle/registered-lifecycle.js';
import { RunError } from '../../model/run-error.js';
import { modelFailure } from './model-call.js';
import { resumedBatch } from './resume.js';
import type { Run } from './run.js';
import { closeCalls, closePending } from './turn.js';
import { announceTurnEnd } from './turn-events.js';

const ON_ERROR_MS = 5_000;
/** A run that failed waits for no decision: what is open gets an error result. */
const FAILED: Verdict = { action: { type: 'reject', reason: 'the run failed' }, by: 'run', point: 'end' };

/**
 * Ends a run that failed: the events that are open get their end, every part that entered and has not had its
 * afterAgent gets onError, and the error gets what the run had done. Returns the error to throw.
 */
export async function failRun(run: Run, caught: unknown): Promise<unknown> {
  const error = run.asking ? modelFailure(run, run.model.id, caught) : (run.abortError ?? caught);
  run.asking = false;
  run.verdict ??= FAILED;
  if (run.resuming !== undefined) closeCalls(run, resumedBatch(run, run.resuming, undefined));
  if (run.pending !== undefined) await closeSuspended(run);
  // What was said to the run meanwhile is not lost. Before its first turn there is nothing that it could follow.
  if (run.turn > 0) run.flush();
  run.finish();
  if (run.listening) announceTurnEnd(run);
  if (error instanceof RunError) error.attach(run.state());
  const handlers = run.config.chain.onError?.filter(({ index }) => index < run.entered && index >= run.exited);
  // Called in order, awaited together, 5 s at most, whatever became of the run. What they throw is logged.
  if (handlers !== undefined) await Promise.all(handlers.map((entry) => callHandler(run, entry, error)));
  run.config.life.runs -= 1;
  run.config.life.onEnd();
  if (run.listening) {
    run.emit({ type: 'run-error', runId: run.id, error });
    run.emit({ type: 'run-end', runId: run.id, result: undefined });
  }
  return error;
}

/** The calls of a suspended run that failed after all are closed, in the session too. */
function closeSuspended(run: Run): Promise<void> {
  closePending(run);
  const late = new TimeoutExceededError('saving of a suspended run', ON_ERROR_MS);
  return attempt(run, late, () => run.attached.onTurn?.(run));
}

async function callHandler(run: Run, entry: RegisteredLifecycle, error: unknown): Promise<void> {
  if (entry.status.inert) return;
  const milliseconds = Math.min(entry.timeoutMs ?? ON_ERROR_MS, ON_ERROR_MS);
  const late = new TimeoutExceededError(`onError of "${entry.name}"`, milliseconds);
  await attempt(run, late, () => entry.lifecycle.onError?.(error, run as never));
}

/** Waits for a last call, within its time. What fails is logged, as far as the logger takes it. */
async function attempt(run: Run, late: TimeoutExceededError, call: () => Awaitable<void> | undefined): Promise<void> {
  try {
    await withinTime(call(), late, run.clock);
  } catch (error) {
    logFailure(run, `${late.what} failed: ${describeError(error)}`, error);
  }
}
