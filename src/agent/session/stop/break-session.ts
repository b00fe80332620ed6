import { validateOptions } from '../../../internal/options/validate.js';
import { durableToken } from '../../../lifecycle/hook-run/hook-run.js';
import type { Post } from '../../../state/record/entry.js';
import type { AppendAnswer } from '../../../state/session-store.js';
import { postTo } from '../sent-message.js';
import { SessionStoreError } from '../session-error.js';
import type { StoredSession } from '../stored-session.js';
import { type BreakOptions, breakRules } from './stop-session.js';

/** Ends the claim of a durable run. Resolves with false if no durable run has the conversation. */
export async function breakClaim(session: StoredSession, options: BreakOptions): Promise<boolean> {
  validateOptions(options, breakRules);
  const { reason, by } = options;
  const run = await session.running();
  if (run === undefined) return false;
  const token = durableToken(run);
  let { owned, length } = await lookAs(session, token);
  if (!owned) return false;
  // The post tells why. An execution that goes on after all stops when it reads the post.
  const post: Post = { type: 'stop', run, ...(reason !== undefined && { reason }) };
  await postTo(session, { id: session.agent.defaults.ids.next('entry'), by, post });
  for (let released = false; owned && !released; ) {
    ({ owned, released, length } = await lookAs(session, token, { length, release: true }));
  }
  return true;
}

/** Appends nothing. Tells if the token holds the claim. */
async function lookAs(
  { store, id }: StoredSession,
  token: string,
  append: { readonly length: number; readonly release?: boolean } = { length: 0 },
): Promise<AppendAnswer> {
  try {
    return await store.append(id, { token, entries: [], ...append });
  } catch (error) {
    throw new SessionStoreError(id, 'saved', error);
  }
}
