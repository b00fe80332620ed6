import { sleep } from '../../../internal/clock.js';
import { text } from '../../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../../internal/options/validate.js';
import type { Post } from '../../../state/record/entry.js';
import { callPath } from '../../run-stream.js';
import { claimSession, type SessionWait } from '../claim-session.js';
import { EntryWriter } from '../entry-writer.js';
import { deniedPart } from '../recorder.js';
import { LOOK_MS, postTo } from '../sent-message.js';
import type { StoredSession } from '../stored-session.js';
import { STOP_MS, stopCall } from './stop-call.js';

/**
 * Options of `session.stop`.
 *
 * @example
 * await session.stop({ reason: 'Ada pressed the button.', by: 'ada' });
 */
export interface StopOptions {
  /**
   * Why the run is stopped. The error of the run gets the reason as its `cause`. If the run is suspended, its waiting
   * calls are denied with the reason.
   */
  readonly reason?: string | undefined;
  /**
   * Cancels only one tool call: the ids of its enclosing tool calls and its own id, outermost first. The model reads an
   * error result with the reason, and the run continues.
   */
  readonly path?: readonly string[] | undefined;
  /** Identifies who stops, for the record. */
  readonly by?: string | undefined;
}

/**
 * Options of `session.break`.
 *
 * @example
 * await session.break({ reason: 'The workflow is gone.', by: 'ops' });
 */
export type BreakOptions = Pick<StopOptions, 'reason' | 'by'>;

export const breakRules = { reason: text, by: text } satisfies OptionTable<BreakOptions>;
const stopRules = { ...breakRules, path: callPath } satisfies OptionTable<StopOptions>;

const STOPPED = 'The run was stopped.';

/**
 * Asks the active run to stop. Resolves with false if it does not end in time, and with undefined if no run is active.
 */
export async function stopRun(session: StoredSession, options: StopOptions): Promise<boolean | undefined> {
  validateOptions(options, stopRules);
  const { reason, by, path } = options;
  if (path !== undefined) return stopCall(session, { path, reason, by });
  const { ids, clock } = session.agent.defaults;
  const run = await session.running();
  if (run === undefined) return undefined;
  const post: Post = { type: 'stop', run, ...(reason !== undefined && { reason }) };
  await postTo(session, { id: ids.next('entry'), by, post });
  const until = clock.now() + STOP_MS;
  while ((await session.running()) === run) {
    if (clock.now() >= until) return false;
    await sleep(LOOK_MS, clock);
  }
  return true;
}

/** Denies the waiting calls, or the waiting answer. Resolves with false if nothing waits. */
export async function denyPending(
  session: StoredSession,
  { reason = STOPPED, by }: StopOptions,
  wait: SessionWait,
): Promise<boolean> {
  const { record, agent } = session;
  const { ids, clock } = agent.defaults;
  const run = ids.next('run');
  const claim = await claimSession(session, { run, by }, wait);
  const { pending, openTurn, tip } = record;
  const origin = { claim, tip, runId: run, agent: agent.defaults.agent, now: () => clock.now() };
  const writer = new EntryWriter(origin);
  for (const { id: call } of pending?.calls ?? []) {
    writer.put({ type: 'decision', call, decision: { deny: reason } }, { parent: pending?.entry, by });
    const open = openTurn?.open.find(({ id }) => id === call);
    if (open === undefined) continue;
    const result = deniedPart(open, reason, record.decisions.attemptOf(openTurn?.entry ?? '', call));
    writer.follow({ type: 'message', message: { role: 'tool', content: [result] } });
  }
  await claim.release();
  return pending !== undefined;
}
