import { describeError } from '../errors.js';
import type { HookSite } from './hook-run.js';
import { LifecycleError, RejectedError } from './run-failure.js';

/**
 * What a failed hook does to its run, by its part's `onFailure`. Throws where the run fails; otherwise returns whether
 * the run ends here (`block`) or goes on with the value from before (`continue`). An abort, and an error that already
 * says where it came from, pass through whatever the policy.
 */
export function takeFailure({ entry, point, run, call }: HookSite, error: unknown): boolean {
  run.end.throwIfAborted();
  if (run.end.owns(error)) throw error;
  const failure = new LifecycleError(entry.name, point, error);
  if (entry.onFailure === 'throw') throw run.end.own(failure);
  const blocks = entry.onFailure === 'block';
  const reason = describeError(error);
  run.record({ type: blocks ? 'block' : 'pass', by: entry.name, point, reason, ...(call && { call }) });
  run.context.logger.error(failure.message, error);
  // The run has its answer here: there is no later step that could honour a verdict.
  if (blocks && point === 'afterAgent') throw run.end.own(new RejectedError(reason, entry.name, point));
  if (blocks && point !== 'wrapToolCall') {
    run.end.verdict ??= { action: { type: 'reject', reason }, by: entry.name, point };
  }
  return blocks;
}
