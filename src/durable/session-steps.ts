import { stoppedError } from '../agent/run/run-posts.js';
import { endClaim, watchPosts } from '../agent/session/claim.js';
import type { Awaitable } from '../internal/promise.js';
import { durableToken } from '../lifecycle/hook-run/hook-run.js';
import type { AppendAnswer, ClaimAnswer, SessionAppend, SessionClaim, SessionStore } from '../state/session-store.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';
import type { StoreRetries } from './record/store-retries.js';

/** The claim of a run in the session store. */
interface HeldClaim {
  /** The token of the claim, which is the same in each attempt. */
  readonly token: string;
  readonly run: string;
  readonly session: string;
  /** The number of entries that the run knows. */
  length: number;
}

/**
 * Makes a store whose claims, appends and loads are steps. A repeated append adds nothing twice, because its entries
 * have the same ids.
 *
 * The claims do not expire, because an engine may start the next attempt at any time. The other methods call the store
 * directly.
 */
export function durableSessions(store: SessionStore, steps: Steps, retries: StoreRetries): SessionStore {
  let count = 0;
  /** The claims by the tokens of their runs. */
  const claims = new Map<string, HeldClaim>();
  const inStep: InStep = (what, work) => {
    if (stepScope.getStore() !== undefined) return work();
    count += 1;
    const [name, key] = [`session ${what} ${count}`, `${steps.id}:session:${count}`];
    const lasting = () => retries.run(`Step "${name}" of "${steps.id}"`, work);
    return steps.perform({ name, key, kind: 'session' }, lasting);
  };
  const tokenOf = (token: string) => claims.get(token)?.token ?? token;
  return {
    async claim(id, claim) {
      const { run } = claim;
      const token = durableToken(run);
      const own = { ...claim, token, ttlMs: ENDLESS_MS };
      const { answer, ...stored } = await claimInStep({ store, steps, inStep }, id, own);
      if (answer.claimed) claims.set(claim.token, { ...stored, run, session: id, length: answer.length });
      return answer;
    },
    async append(id, append) {
      const own = { ...append, token: tokenOf(append.token) };
      if (isLook(append) && stepScope.getStore() === undefined) return { ...HELD, length: own.length };
      // An attempt that has ended adds nothing and keeps its claim for the next attempt, which has the same token.
      if (steps.hasEnded) return steps.isCancelled ? store.append(id, own) : { ...KEPT, length: own.length };
      const { answer } = await inStep('append', async () => ({ answer: await store.append(id, own) }));
      follow(claims, append.token, answer);
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
    watch(id, listener) {
      const isInStep = stepScope.getStore() !== undefined;
      const held = [...claims.values()].find(({ session }) => session === id);
      const look = async () => (isInStep ? listener() : stopRun(store, steps, held));
      return watchPosts({ store, id, clock: steps.time.baseOf(undefined) }, look);
    },
  };
}

type InStep = <T>(what: string, work: () => Promise<T>) => Promise<T>;

interface ClaimStep {
  readonly store: SessionStore;
  readonly steps: Steps;
  readonly inStep: InStep;
}

/**
 * Claims the conversation in a step. If the execution is cancelled during the claim, ends the claim, because the store
 * may grant it later.
 */
async function claimInStep({ store, steps, inStep }: ClaimStep, id: string, claim: SessionClaim) {
  const { token } = claim;
  let asked: Awaitable<ClaimAnswer> | undefined;
  try {
    return await inStep('claim', async () => {
      asked = store.claim(id, claim);
      return { token, answer: await asked };
    });
  } catch (error) {
    if (steps.isCancelled) {
      await Promise.allSettled([asked]);
      await endClaim(store, id, token).catch(() => {});
    }
    throw error;
  }
}

function isLook({ entries, release }: SessionAppend): boolean {
  return entries.length === 0 && release !== true;
}

/** Updates what the run knows of the record after an append. */
function follow(claims: Map<string, HeldClaim>, token: string, { length, released, owned }: AppendAnswer): void {
  const held = claims.get(token);
  if (held !== undefined) held.length = length;
  if (released || !owned) claims.delete(token);
}

/** A century, which stands for no limit. */
const ENDLESS_MS = 100 * 365 * 24 * 3_600_000;

/**
 * The answer of an append outside a step. Only a step can report messages or a lost session, because a replay must get
 * the same answer.
 */
const HELD = { owned: true, stored: true, released: false, entries: [] };
const KEPT = { owned: true, stored: true, released: true, entries: [] };

/** Stops the run if a caller has posted a stop. Not a step, so that no step of the run waits for it. */
async function stopRun(store: SessionStore, steps: Steps, held: HeldClaim | undefined): Promise<void> {
  if (held === undefined) return;
  const { session, run, token, length } = held;
  const { owned, entries } = await store.append(session, { token, length, entries: [] });
  for (const { body } of owned ? entries : []) {
    if (body.type !== 'post' || body.post.type !== 'stop') continue;
    const { post } = body;
    if (post.run === run && post.path === undefined) steps.stops.stop(run, stoppedError(post.reason));
  }
}
