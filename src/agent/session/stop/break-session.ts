import { validateOptions } from '../../../internal/options/validate.js';
import { durableToken } from '../../../lifecycle/hook-run/hook-run.js';
import type { Post } from '../../../state/record/entry.js';
import { endClaim } from '../claim.js';
import { postTo } from '../sent-message.js';
import { SessionStoreError } from '../session-error.js';
import type { StoredSession } from '../stored-session.js';
import { type BreakOptions, breakRules } from './stop-session.js';

/** Releases the claim of a durable run. Resolves with false if no durable run has the claim. */
export async function breakClaim(session: StoredSession, options: BreakOptions): Promise<boolean> {
  validateOptions(options, breakRules);
  const { reason, by } = options;
  const run = await session.running();
  if (run === undefined) return false;
  const token = durableToken(run);
  if (!(await ownsClaim(session, token))) return false;
  // The posted stop has the reason. An execution that continues nevertheless stops when it reads the post.
  const post: Post = { type: 'stop', run, ...(reason !== undefined && { reason }) };
  await postTo(session, { id: session.agent.defaults.ids.next('entry'), by, post });
  await endClaim(session.store, session.id, token).catch((error) => {
    throw new SessionStoreError(session.id, 'saved', error);
  });
  return true;
}

async function ownsClaim({ store, id }: StoredSession, token: string): Promise<boolean> {
  try {
    return (await store.append(id, { token, length: 0, entries: [] })).owned;
  } catch (error) {
    throw new SessionStoreError(id, 'saved', error);
  }
}
