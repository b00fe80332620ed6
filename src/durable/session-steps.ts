import { isSameData } from '../internal/plain-data.js';
import type { SessionChange, SessionStore, StoredSession } from '../state/session-store.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';

/**
 * Makes a store whose loads, saves and claims are steps. A save that runs again succeeds if the earlier attempt made the
 * same change. The other methods call the store directly.
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
    async load(id, known) {
      const { stored } = await inStep('load', async () => ({ stored: await store.load(id, known) }));
      return stored;
    },
    async save(id, change, expected) {
      const claim = change.claim === undefined ? undefined : tokenOf(change.claim);
      const own = { ...change, claim };
      const { revision } = await inStep('save', async () => ({
        revision: await saveOnce(store, { id, change: own, expected }),
      }));
      if (revision !== undefined && change.claim !== undefined) tokens.delete(change.claim);
      return revision;
    },
    async claim(id, claim) {
      const { token, attempt } = await inStep('claim', async (key) => ({
        token: key,
        attempt: await store.claim(id, { ...claim, token: key }),
      }));
      tokens.set(claim.token, token);
      return attempt;
    },
    renew: (id, token, ttlMs) => store.renew(id, tokenOf(token), ttlMs),
    // The next attempt has the same token, so the claim stays if this attempt has ended.
    release: (id, token) => (steps.hasEnded ? undefined : store.release(id, tokenOf(token))),
    delete: (id) => store.delete(id),
    list: (query) => store.list(query),
    update: (id, details) => store.update(id, details),
    fork: (id, fork) => store.fork(id, fork),
  };
}

interface Save {
  readonly id: string;
  readonly change: SessionChange;
  readonly expected: number;
}

/** Saves, or returns the revision of the same save by an attempt that died before the engine stored the step. */
async function saveOnce(store: SessionStore, { id, change, expected }: Save): Promise<number | undefined> {
  const revision = await store.save(id, change, expected);
  if (revision !== undefined) return revision;
  const stored = await store.load(id);
  return stored !== undefined && isResultOf(change, expected, stored) ? stored.revision : undefined;
}

function isResultOf({ uid, keep, append }: SessionChange, expected: number, stored: StoredSession): boolean {
  const { messages } = stored;
  return (
    stored.revision === expected + 1 &&
    (uid === undefined || stored.uid === uid) &&
    messages.length === keep + append.length &&
    isSameData(asJson(messages.slice(keep)), asJson(append))
  );
}

/** Drops undefined members, which a store does not keep. */
function asJson(messages: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(messages));
}
