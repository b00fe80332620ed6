import { stoppedError } from '../agent/run/run-posts.js';
import { endClaim, watchPosts } from '../agent/session/claim.js';
import type { Awaitable } from '../internal/promise.js';
import { durableToken } from '../lifecycle/hook-run/hook-run.js';
import type { AppendAnswer, ClaimAnswer, SessionAppend, SessionClaim, SessionStore } from '../state/session-store.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';
import type { StoreRetries } from './record/store-retries.js';

/** The claim that gives a run the exclusive right to write to a session. */
interface HeldClaim {
  /** The token that proves the claim. A replay uses the same token. */
  readonly token: string;
  readonly run: string;
  readonly session: string;
  /** The number of stored entries that the run knows. */
  length: number;
}

/**
 * Returns a session store that claims, loads and appends in steps. A repeated append adds nothing twice, because its
 * entries have the same ids.
 *
 * The claims do not expire, because an engine may start the next attempt much later. The other methods call the store
 * without a step.
 */
export function durableSessions(store: SessionStore, steps: Steps, retries: StoreRetries): SessionStore {
  let count = 0;
  /** The claims of the runs, by token. */
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
 * Claims a session in a step. If the execution is cancelled meanwhile, gives the claim back, because the store may
 * still grant it.
 */
async function claimInStep({ store, steps, inStep }: ClaimStep, id: string, claim: SessionClaim) {
  const { token } = claim;
  let asked: Awaitable<ClaimAnswer> | undefined;
  try {
    return await inStep('claim', async () => {
      asked = store.claim(id, claim);
      const answer = await asked;
      // The engine stores that the run has the claim, so the claim must survive a crash of the store. Some stores write a
      // claim to disk only with the next append, so one follows at once.
      if (answer.claimed) await store.append(id, { token, length: answer.length, entries: [] });
      return { token, answer };
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

/** Remembers how many entries the store has after an append. Forgets the claim if it has ended. */
function follow(claims: Map<string, HeldClaim>, token: string, { length, released, owned }: AppendAnswer): void {
  const held = claims.get(token);
  if (held !== undefined) held.length = length;
  if (released || !owned) claims.delete(token);
}

/** A century, which stands for no time limit. */
const ENDLESS_MS = 100 * 365 * 24 * 3_600_000;

/**
 * The assumed result of an append outside a step. Messages from other callers and a lost claim are only noticed in a
 * step, because a replay must notice them at the same point.
 */
const HELD = { owned: true, stored: true, released: false, entries: [] };
const KEPT = { owned: true, stored: true, released: true, entries: [] };

/**
 * Stops the run if another caller has asked the session to stop it. Does not run as a step, so that it works while a
 * step is running.
 */
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
