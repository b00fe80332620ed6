import { describeError } from '../errors.js';
import type { HookSite } from './hook-run/hook-run.js';
import { LifecycleError, RejectedError } from './run-failure.js';

/**
 * Applies the `onFailure` of a lifecycle whose hook failed. Throws if the run fails. Returns true if the run ends here
 * (`block`), and false if the run continues with the previous value (`continue`). An abort, and an error that already
 * names its source, are rethrown with every `onFailure`.
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
  // The run already has its answer, so no later step would read `run.end.verdict`.
  if (blocks && point === 'afterAgent') throw run.end.own(new RejectedError(reason, entry.name, point));
  if (blocks && point !== 'wrapToolCall') run.end.decide({ action: { type: 'reject', reason }, by: entry.name, point });
  return blocks;
}
