import { describeError } from '../errors.js';
import type { HookSite } from './hook-run.js';
import { LifecycleError } from './run-failure.js';

/**
 * What a failed hook does to its run, by its part's `onFailure`. Throws where the run fails; otherwise returns whether
 * the run ends here (`block`) or goes on with the value from before (`continue`). An abort, and an error that already
 * says where it came from, pass through whatever the policy.
 */
export function takeFailure({ entry, point, run }: HookSite, error: unknown): boolean {
  if (run.abortError !== undefined) throw run.abortError;
  if (run.owns(error)) throw error;
  const failure = new LifecycleError(entry.name, point, error);
  if (entry.onFailure === 'throw') throw run.own(failure);
  const reason = describeError(error);
  const type = entry.onFailure === 'block' && point !== 'afterAgent' ? 'block' : 'pass';
  run.record({ type, by: entry.name, point, reason });
  run.logger.error(failure.message, error);
  if (type === 'block' && point !== 'wrapToolCall') {
    run.verdict ??= { action: { type: 'reject', reason }, by: entry.name, point };
  }
  return type === 'block';
}
