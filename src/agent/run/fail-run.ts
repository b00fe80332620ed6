import { describeError, TimeoutExceededError } from '../../errors.js';
import { withinTime } from '../../internal/clock.js';
import { logFailure } from '../../internal/logger.js';
import type { Awaitable } from '../../internal/promise.js';
import type { HookRun } from '../../lifecycle/hook-run/hook-run.js';
import type { Verdict } from '../../lifecycle/hook-run/run-end.js';
import type { RegisteredLifecycle } from '../../lifecycle/registered-lifecycle.js';
import { RunError } from '../../model/run-error.js';
import { recordFailure } from '../run-result.js';
import { SessionLostError } from '../session/session-error.js';
import { reportToOuterRun } from './outer-call.js';
import type { Run } from './run.js';
import { ownerOf } from './run-config.js';

const ON_ERROR_MS = 5_000;
/** The default reason of a failed run. Its open calls get this reason as their error result. */
const FAILED: Verdict = { action: { type: 'reject', reason: 'the run failed' }, by: 'run', point: 'end' };

/**
 * Ends a failed run and returns the error to throw. Gives open tool calls an error result, emits the missing `-end`
 * events, and attaches messages and usage to the error.
 *
 * Calls `onError` of each lifecycle whose `beforeAgent` has returned and whose `afterAgent` was not called.
 */
export async function failRun(run: Run, caught: unknown): Promise<unknown> {
  const { config, conversation, end, pairing, turn, listeners } = run;
  // `checkEnd` rejects with the error of the abort, which ends this run anyway.
  await run.effects?.checkEnd(caught)?.catch(() => {});
  const error = end.abortError ?? caught;
  end.decide(FAILED);
  await closeConversation(run, error);
  end.finish();
  (run as HookRun).onEnd?.({ status: 'failed', error });
  turn?.events?.end();
  const { added: messages, history } = conversation;
  const usage = { ...run.usage };
  if (error instanceof RunError) error.attach({ messages, history, usage, path: run.context.path });
  const record = { decisions: run.decisions, nested: conversation.nested };
  recordFailure(error, record);
  // A `beforeAgent` hook that still runs may acquire something later, which its `onError` has to release.
  const { entering } = pairing;
  entering?.done.then(
    () => callHandler(run, entering.entry, error),
    () => {},
  );
  // The handlers start in order and are awaited together, up to 5 seconds. Their errors are logged.
  const handlers = config.chain.onError?.filter((entry) => pairing.owesError(entry)) ?? [];
  await Promise.all(handlers.map((entry) => callHandler(run, entry, error)));
  ownerOf(run).life.endRun();
  if (run.origin.parent !== undefined) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: describeError(error) };
    reportToOuterRun(run, { ...record, messages, usage, status: 'failed', pending: [], error: { name, message } });
  }
  if (listeners.active) {
    listeners.emit({ type: 'run-error', runId: run.context.id, error });
    listeners.emit({ type: 'run-end', runId: run.context.id, result: undefined });
  }
  config.part?.end();
  return error;
}

/** Gives each open call a result, adds the messages of the failed turn, and saves them in the session. */
async function closeConversation(run: Run, error: unknown): Promise<void> {
  const { conversation, end, attached, turn } = run;
  // The last append was already sent, so the record contains its messages.
  if (attached.recorder?.isLeaving) return;
  const open = conversation.resuming?.calls;
  if (open !== undefined) {
    const { resumedCalls } = await import('./resume/resume-run.js');
    resumedCalls(run, open, undefined).addResults();
  }
  if (run.pending !== undefined) {
    const { closePending } = await import('./resume/resume-run.js');
    closePending(run);
  }
  const keeps = end.abortError !== undefined && open === undefined && attached.keepsStopped;
  // Some providers refuse a message that has only white space.
  const shown = turn?.events?.shownText ?? '';
  if (keeps && shown.trim() !== '') {
    conversation.say({ role: 'assistant', content: [{ type: 'text', text: shown }], stopped: true });
  }
  // Before the first turn, messages of hooks cannot follow any turn.
  if (run.context.turn > 0) conversation.addQueued();
  if (end.abortError instanceof SessionLostError) return;
  const late = new TimeoutExceededError('saving of a failed run', ON_ERROR_MS);
  await attempt(run, late, () => attached.recorder?.leave(run, { error }));
}

async function callHandler(run: Run, entry: RegisteredLifecycle, error: unknown): Promise<void> {
  if (entry.status.inert) return;
  const milliseconds = Math.min(entry.timeoutMs ?? ON_ERROR_MS, ON_ERROR_MS);
  const late = new TimeoutExceededError(`onError of "${entry.name}"`, milliseconds);
  await attempt(run, late, () => entry.lifecycle.onError?.(error, run.context as never));
}

/** Awaits `call` within its time limit. Logs a failure or a timeout. */
async function attempt(run: Run, late: TimeoutExceededError, call: () => Awaitable<unknown>): Promise<void> {
  try {
    await withinTime(call(), late, run.config.clock);
  } catch (error) {
    logFailure(run.config, `${late.what} failed: ${describeError(error)}`, error);
  }
}
