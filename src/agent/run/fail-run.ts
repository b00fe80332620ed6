import { describeError, TimeoutExceededError } from '../../errors.js';
import { withinTime } from '../../internal/clock.js';
import { logFailure } from '../../internal/logger.js';
import type { Awaitable } from '../../internal/promise.js';
import type { Verdict } from '../../lifecycle/hook-run/run-end.js';
import type { RegisteredLifecycle } from '../../lifecycle/registered-lifecycle.js';
import { type ToolMessage, toolCallsOf } from '../../model/message.js';
import { RunError, type RunErrorState } from '../../model/run-error.js';
import { errorResult } from '../../tools/tool-result.js';
import { modelFailure } from './calls/model-call.js';
import { finaliseCalls, resultPartOf } from './calls/tool-calls.js';
import { resumedCalls } from './calls/turn-calls.js';
import type { Run } from './run.js';
import { announceTurnEnd } from './run-events.js';

const ON_ERROR_MS = 5_000;
/** The default reason of a failed run, so that its open calls get an error result. */
const FAILED: Verdict = { action: { type: 'reject', reason: 'the run failed' }, by: 'run', point: 'end' };

/**
 * Ends a failed run: emits the missing `-end` events, calls `onError`, and attaches the messages and usage to the
 * error. `onError` is called for each lifecycle whose `beforeAgent` ran and whose `afterAgent` did not. Returns the
 * error to throw.
 */
export async function failRun(run: Run, caught: unknown): Promise<unknown> {
  const error = run.asking ? modelFailure(run, run.config.model.id, caught) : (run.end.abortError ?? caught);
  run.asking = false;
  run.step?.close();
  run.end.verdict ??= FAILED;
  const isStopped = run.end.abortError !== undefined && run.conversation.resuming === undefined;
  if (run.conversation.resuming !== undefined) {
    finaliseCalls(resumedCalls(run, run.conversation.resuming, undefined));
  }
  if (run.pending !== undefined) await closeSuspended(run);
  // Keeps the messages that were added during the turn. Before the first turn, they would have no place.
  if (isStopped && run.attached.keepsStopped) addShown(run);
  if (run.turn > 0) run.conversation.flush();
  if (isStopped && run.attached.keepsStopped) await saveStopped(run);
  run.end.finish();
  if (run.listeners.active) announceTurnEnd(run);
  if (error instanceof RunError) error.attach(stateOf(run));
  const handlers = run.config.chain.onError?.filter(({ index }) => index < run.end.entered && index >= run.end.exited);
  const { entering } = run.end;
  // A hook that is still running may open something later, which its `onError` has to close.
  entering?.done.then(
    () => callHandler(run, entering.entry, error),
    () => {},
  );
  // Started in order and awaited together, with a time limit of 5 s. Their errors are logged.
  if (handlers !== undefined) await Promise.all(handlers.map((entry) => callHandler(run, entry, error)));
  run.config.life.endRun();
  if (run.listeners.active) {
    run.listeners.emit({ type: 'run-error', runId: run.context.id, error });
    run.listeners.emit({ type: 'run-end', runId: run.context.id, result: undefined });
  }
  return error;
}

/** Adds the text that an aborted model call had shown. Text of white space alone is refused by some providers. */
function addShown({ conversation, shown }: Run): void {
  if (shown === undefined || shown.text.trim() === '') return;
  conversation.push({ role: 'assistant', content: [{ type: 'text', text: shown.text }], stopped: true });
}

/** Saves the messages of an aborted run that no turn has saved. Without such messages, waits for nothing. */
async function saveStopped(run: Run): Promise<void> {
  if (run.conversation.added.length <= run.saved) return;
  const late = new TimeoutExceededError('saving of an aborted run', ON_ERROR_MS);
  await attempt(run, late, () => run.attached.onTurn?.(run));
}

/** Closes the open calls of a suspended run that failed later, and saves the session. */
function closeSuspended(run: Run): Promise<void> {
  closePending(run);
  const late = new TimeoutExceededError('saving of a suspended run', ON_ERROR_MS);
  return attempt(run, late, () => run.attached.onTurn?.(run));
}

/** Gives each suspended call an error result, because a failed run cannot be resumed. */
function closePending(run: Run): void {
  const { added, history, outgoing } = run.conversation;
  const asked = history.findLast((message) => toolCallsOf(message).length > 0);
  if (asked === undefined || run.pending?.[0]?.type !== 'tool-call') return;
  run.pending = undefined;
  const index = history.indexOf(asked) + 1;
  const partial = history[index]?.role === 'tool' ? (history[index] as ToolMessage) : undefined;
  const failed = errorResult('The call was not completed, because the run failed.');
  const content = toolCallsOf(asked).map(
    (call) => partial?.content.find(({ id }) => id === call.id) ?? resultPartOf(call, failed),
  );
  for (const list of new Set([added, history, outgoing])) {
    list.splice(list.indexOf(asked) + 1, partial === undefined ? 0 : 1, { role: 'tool', content });
  }
}

/** Returns the messages and the usage for the error. */
function stateOf({ conversation, usage }: Run): RunErrorState {
  return { messages: conversation.added, history: conversation.history, usage: { ...usage } };
}

async function callHandler(run: Run, entry: RegisteredLifecycle, error: unknown): Promise<void> {
  if (entry.status.inert) return;
  const milliseconds = Math.min(entry.timeoutMs ?? ON_ERROR_MS, ON_ERROR_MS);
  const late = new TimeoutExceededError(`onError of "${entry.name}"`, milliseconds);
  await attempt(run, late, () => entry.lifecycle.onError?.(error, run.context as never));
}

/** Awaits `call` within its time limit. Logs a failure or a timeout. */
async function attempt(run: Run, late: TimeoutExceededError, call: () => Awaitable<void> | undefined): Promise<void> {
  try {
    await withinTime(call(), late, run.config.clock);
  } catch (error) {
    logFailure(run.config, `${late.what} failed: ${describeError(error)}`, error);
  }
}
