import { describeError } from '../errors.js';
import type { HookSite } from './hook-run/hook-run.js';
import { LifecycleError, RejectedError } from './run-failure.js';

/**
 * Applies the `onFailure` of a lifecycle whose hook failed. With `throw`, throws. With `block`, returns true, and the
 * run ends. With `continue`, returns false, and the run continues with the previous value.
 *
 * Rethrows an abort, and an error that already names its source.
 */
export function takeFailure({ entry, point, run, call }: HookSite, error: unknown): boolean {
  run.end.throwIfAborted();
  if (run.end.owns(error)) throw error;
  const failure = new LifecycleError(entry.name, point, error);
  if (entry.onFailure === 'throw') throw run.end.own(failure);
  const blocks = entry.onFailure === 'block';
  const reason = describeError(error);
  run.record({ type: blocks ? 'block' : 'pass', by: entry.name, point, reason, call });
  run.context.logger.error(failure.message, error);
  // After `afterAgent`, no later step reads `run.end.verdict`.
  if (blocks && point === 'afterAgent') throw run.end.own(new RejectedError(reason, entry.name, point));
  if (blocks && point !== 'wrapToolCall') run.end.decide({ action: { type: 'reject', reason }, by: entry.name, point });
  return blocks;
}
