import { SessionExistsError } from '../errors.js';
import { checkKeep, type SessionFork, type SessionStore, type SessionSummary } from './session-store.js';

/** Copies a session by loading it and saving its messages under the new id. */
export async function forkSession(
  store: SessionStore,
  from: string,
  { id, keep, details }: SessionFork,
): Promise<SessionSummary | undefined> {
  const source = await store.update(from, {});
  const stored = await store.load(from);
  if (source === undefined || stored === undefined) return undefined;
  const { messages } = stored;
  if (keep !== undefined) checkKeep(keep, messages.length);
  const { owner, title, data } = source;
  const change = { keep: 0, append: messages.slice(0, keep), details: { owner, title, data, ...details } };
  if ((await store.save(id, change, 0)) === undefined) throw new SessionExistsError(id);
  return store.update(id, {});
}
