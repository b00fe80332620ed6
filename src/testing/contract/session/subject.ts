import type { Message } from '../../../model/message.js';
import type { SessionStore } from '../../../state/session-store.js';
import type { ContractSubject } from '../contract-case.js';

/** The store that a case tests. */
export interface SessionSubject extends ContractSubject<SessionStore> {
  pass(ms: number): Promise<void>;
}

/** A store whose unused sessions expire after `ttlMs`. */
export interface ExpirySubject extends SessionSubject {
  readonly ttlMs: number;
}

export function said(text: string): Message {
  return { role: 'user', content: text };
}

/** Opens a store with one session per id. The first message of a session is its id. */
export async function savedSessions({ open }: SessionSubject, ids: readonly string[]): Promise<SessionStore> {
  const store = await open();
  for (const id of ids) await store.save(id, { keep: 0, append: [said(id)], details: { owner: 'ada' } }, 0);
  return store;
}
