import type { SessionStore } from '../state/session-store.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';

/**
 * Makes a store whose claims, appends and loads are steps. An append that runs again adds nothing twice, because the ids of
 * its entries are the same. The other methods call the store directly.
 */
export function durableSessions(store: SessionStore, steps: Steps): SessionStore {
  let count = 0;
  /** The tokens of the store, by the tokens that runs generate. The tokens of the store are the same in each attempt. */
  const tokens = new Map<string, string>();
  const tokenOf = (token: string) => tokens.get(token) ?? token;
  const inStep = <T>(what: string, work: (key: string) => Promise<T>): Promise<T> => {
    if (stepScope.getStore() !== undefined) return work(crypto.randomUUID());
    count += 1;
    const key = `${steps.id}:session:${count}`;
    return steps.perform({ name: `session ${what} ${count}`, key, kind: 'session' }, () => work(key));
  };
  return {
    async claim(id, claim) {
      const { token, answer } = await inStep('claim', async (key) => ({
        token: key,
        answer: await store.claim(id, { ...claim, token: key }),
      }));
      tokens.set(claim.token, token);
      return answer;
    },
    async append(id, append) {
      const own = { ...append, token: tokenOf(append.token) };
      // Only a step can tell a run that it has lost its session, because a replay must get the same answer.
      if (append.entries.length === 0 && append.release !== true) return { ...(await store.append(id, own)), ...HELD };
      // The next attempt has the same token, so the claim stays if this attempt has ended, and only that one adds entries.
      if (steps.hasEnded) return { ...KEPT, length: append.length };
      const { answer } = await inStep('append', async () => ({ answer: await store.append(id, own) }));
      return answer;
    },
    async load(id, query) {
      const { stored } = await inStep('load', async () => ({ stored: await store.load(id, query) }));
      return stored;
    },
    async renew(id, claim) {
      await store.renew(id, { ...claim, token: tokenOf(claim.token) });
      return true;
    },
    post: (id, post) => store.post(id, post),
    delete: (id) => store.delete(id),
    list: (query) => store.list(query),
    update: (id, details) => store.update(id, details),
  };
}

const HELD = { owned: true, stored: true };
const KEPT = { owned: true, stored: true, released: true, entries: [] };
