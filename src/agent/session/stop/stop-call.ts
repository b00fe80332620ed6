import { sleep } from '../../../internal/clock.js';
import type { Post } from '../../../state/record/entry.js';
import { DONE } from '../../../state/record/posts.js';
import { LOOK_MS, postTo } from '../sent-message.js';
import type { StoredSession } from '../stored-session.js';

/** Milliseconds that a caller waits for the active run to stop. */
export const STOP_MS = 10_000;

/** A tool call to cancel. */
interface StoppedCall {
  readonly path: readonly string[];
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

/**
 * Asks the active run to cancel one tool call. Resolves with true once the run has cancelled it.
 *
 * Resolves with false if the call is not running, or if the run does not answer in time.
 */
export async function stopCall(session: StoredSession, { path, reason, by }: StoppedCall): Promise<boolean> {
  const { ids, clock } = session.agent.defaults;
  const run = await session.running();
  if (run === undefined) return false;
  const id = ids.next('entry');
  const post: Post = { type: 'stop', run, path, ...(reason !== undefined && { reason }) };
  await postTo(session, { id, by, post });
  const until = clock.now() + STOP_MS;
  for (;;) {
    const isOver = clock.now() >= until || (await session.running()) !== run;
    await session.load();
    const state = session.record.posts.stateOf(id);
    if (state?.type === 'dropped') return state.why === DONE;
    if (isOver) return false;
    await sleep(LOOK_MS, clock);
  }
}
