import type { Entry } from '../../../state/record/entry.js';
import type { SessionDetails, SessionStore } from '../../../state/session-store.js';

/** The store that a case tests. */
export interface SessionSubject {
  readonly store: SessionStore;
  pass(ms: number): Promise<void>;
}

/** A store whose unused sessions expire after `ttlMs`. */
export interface ExpirySubject extends SessionSubject {
  readonly ttlMs: number;
}

export const LONG_MS = 60_000;

/** Makes an entry with a message of the user. The text of the message is the id of the entry. */
export function entryOf(text: string): Entry {
  return { id: text, at: 1, run: 'run', body: { type: 'message', message: { role: 'user', content: text } } };
}

/** Makes a post with a message. */
export function posted(id: string): Entry {
  const post = { type: 'message', message: { role: 'user', content: id } } as const;
  return { id, at: 1, body: { type: 'post', post } };
}

export function stopped(id: string, run: string): Entry {
  return { id, at: 1, body: { type: 'post', post: { type: 'stop', run } } };
}

/** Claims a session. The id of the run is also the token of the claim. */
export async function claimed(store: SessionStore, id: string, { run = 'x', ttlMs = LONG_MS } = {}) {
  return store.claim(id, { token: run, run, ttlMs });
}

/** Ends the claim with this token. */
export async function released(store: SessionStore, id: string, { token = 'x', length = 0 } = {}) {
  return store.append(id, { token, length, entries: [], release: true });
}

/** Claims a session, adds entries and releases the claim. */
export async function added(
  store: SessionStore,
  id: string,
  { entries, details }: { readonly entries: readonly Entry[]; readonly details?: SessionDetails },
) {
  const token = 'once';
  const answer = await store.claim(id, { token, run: 'once', ttlMs: LONG_MS, details });
  if (!answer.claimed) return undefined;
  return store.append(id, { token, length: answer.length, entries, release: true });
}

/** Adds one session per id. The only entry of a session is its id. */
export async function saveSessions(store: SessionStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) await added(store, id, { entries: [entryOf(id)], details: { owner: 'ada' } });
}
