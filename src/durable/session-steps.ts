import { stoppedError } from '../agent/run/run-posts.js';
import { durableToken } from '../lifecycle/hook-run/hook-run.js';
import type { Entry } from '../state/record/entry.js';
import type { SessionStore } from '../state/session-store.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';

/** The claim of a run in the store. */
interface HeldClaim {
  /** The same in each attempt. */
  readonly token: string;
  readonly run: string;
}

/**
 * Makes a store whose claims, appends and loads are steps. An append that runs again adds nothing twice, because the ids of
 * its entries are the same. The claims do not run out, because an engine may start the next attempt at any time. The other
 * methods call the store directly.
 */
export function durableSessions(store: SessionStore, steps: Steps): SessionStore {
  let count = 0;
  /** By the tokens that the runs generate. */
  const claims = new Map<string, HeldClaim>();
  const tokenOf = (token: string) => claims.get(token)?.token ?? token;
  const inStep = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (stepScope.getStore() !== undefined) return work();
    count += 1;
    const key = `${steps.id}:session:${count}`;
    return steps.perform({ name: `session ${what} ${count}`, key, kind: 'session' }, work);
  };
  return {
    async claim(id, claim) {
      const { run } = claim;
      const own = { ...claim, token: durableToken(run), ttlMs: ENDLESS_MS };
      const ask = async () => ({ token: own.token, answer: await store.claim(id, own) });
      const { token, answer } = await inStep('claim', ask);
      claims.set(claim.token, { token, run });
      return answer;
    },
    async append(id, append) {
      const own = { ...append, token: tokenOf(append.token) };
      const { length, release } = append;
      const looks = append.entries.length === 0 && release !== true;
      if (looks && stepScope.getStore() === undefined) {
        const { entries } = await store.append(id, own);
        const run = claims.get(append.token)?.run;
        if (run !== undefined) stopRun(steps, run, entries);
        return { ...HELD, length };
      }
      // The next attempt has the same token, so the claim stays if this attempt has ended, and only that one adds entries.
      if (steps.hasEnded) return steps.isCancelled ? store.append(id, own) : { ...KEPT, length };
      const { answer } = await inStep('append', async () => ({ answer: await store.append(id, own) }));
      return answer;
    },
    async load(id, query) {
      const { stored } = await inStep('load', async () => ({ stored: await store.load(id, query) }));
      return stored;
    },
    async renew(id, claim) {
      await store.renew(id, { ...claim, token: tokenOf(claim.token), ttlMs: ENDLESS_MS });
      return true;
    },
    post: (id, post) => store.post(id, post),
    delete: (id) => store.delete(id),
    list: (query) => store.list(query),
    update: (id, details) => store.update(id, details),
    ...(store.watch && { watch: (id, listener) => store.watch?.(id, listener) ?? (() => {}) }),
  };
}

/** A century. */
const ENDLESS_MS = 100 * 365 * 24 * 3_600_000;

/** Only a step can tell a run about messages, and that it has lost its session, because a replay must get the same answer. */
const HELD = { owned: true, stored: true, released: false, entries: [] };
const KEPT = { owned: true, stored: true, released: true, entries: [] };

/** Stops a run if somebody has posted that. */
function stopRun(steps: Steps, run: string, entries: readonly Entry[]): void {
  for (const { body } of entries) {
    if (body.type !== 'post' || body.post.type !== 'stop') continue;
    const { post } = body;
    if (post.run === run && post.path === undefined) steps.stops.stop(run, stoppedError(post.reason));
  }
}
