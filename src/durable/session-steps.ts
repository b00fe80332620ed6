import { stoppedError } from '../agent/run/run-posts.js';
import { type Clock, repeat, sleep } from '../internal/clock.js';
import { consoleLogger, type Logger, logFailure } from '../internal/logger.js';
import { durableToken } from '../lifecycle/hook-run/hook-run.js';
import type { AppendAnswer, SessionAppend, SessionStore } from '../state/session-store.js';
import { isTemporary } from './error.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';

/** The claim of a run in the store. */
interface HeldClaim {
  /** The same in each attempt. */
  readonly token: string;
  readonly run: string;
  readonly session: string;
  /** The number of entries that the run knows. */
  length: number;
}

interface EngineTraits {
  /** True if an error would end an execution for good. */
  readonly endsWithErrors: boolean;
  readonly logger: Logger | undefined;
}

/**
 * Makes a store whose claims, appends and loads are steps. An append that runs again adds nothing twice, because the ids of
 * its entries are the same. The claims do not run out, because an engine may start the next attempt at any time. The other
 * methods call the store directly.
 */
export function durableSessions(store: SessionStore, steps: Steps, options: EngineTraits): SessionStore {
  let count = 0;
  /** By the tokens that the runs generate. */
  const claims = new Map<string, HeldClaim>();
  const inStep = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (stepScope.getStore() !== undefined) return work();
    count += 1;
    const [name, key] = [`session ${what} ${count}`, `${steps.id}:session:${count}`];
    const whole = options.endsWithErrors ? () => untilDone(work, { steps, name, ...options }) : work;
    return steps.perform({ name, key, kind: 'session' }, whole);
  };
  const tokenOf = (token: string) => claims.get(token)?.token ?? token;
  return {
    async claim(id, claim) {
      const { run } = claim;
      const token = durableToken(run);
      const own = { ...claim, token, ttlMs: ENDLESS_MS };
      const { answer, ...stored } = await inStep('claim', async () => ({ token, answer: await store.claim(id, own) }));
      if (answer.claimed) claims.set(claim.token, { ...stored, run, session: id, length: answer.length });
      return answer;
    },
    async append(id, append) {
      const own = { ...append, token: tokenOf(append.token) };
      if (isLook(append) && stepScope.getStore() === undefined) return { ...HELD, length: own.length };
      // The next attempt has the same token, so the claim stays if this attempt has ended, and only that one adds entries.
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
      return watchPosts(store, id, { look, clock: steps.time.baseOf(undefined) });
    },
  };
}

function isLook({ entries, release }: SessionAppend): boolean {
  return entries.length === 0 && release !== true;
}

/** Notes what the run knows after an append. */
function follow(claims: Map<string, HeldClaim>, token: string, { length, released, owned }: AppendAnswer): void {
  const held = claims.get(token);
  if (held !== undefined) held.length = length;
  if (released || !owned) claims.delete(token);
}

interface Look {
  readonly look: () => Promise<void>;
  readonly clock: Clock;
}

function watchPosts(store: SessionStore, id: string, { look, clock }: Look): () => void {
  return store.watch?.(id, () => void look().catch(() => {})) ?? repeat(look, LOOK_MS, clock);
}

/** How often a run looks for stops if its store cannot announce them. */
const LOOK_MS = 1_000;

/** A step of a session in an engine whose executions end for good with an error. */
interface LastingStep {
  readonly steps: Steps;
  readonly name: string;
  readonly logger: Logger | undefined;
}

/** Repeats work of a store that fails for a time. */
async function untilDone<T>(work: () => Promise<T>, { steps, name, logger = consoleLogger }: LastingStep): Promise<T> {
  for (let delayMs = 100; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error) || steps.hasEnded) throw error;
      logFailure({ logger }, `Step "${name}" of "${steps.id}" failed, and is tried again in ${delayMs} ms.`, error);
      await sleep(delayMs, steps.time.baseOf(undefined));
    }
  }
}

const MAX_DELAY_MS = 30_000;

/** A century. */
const ENDLESS_MS = 100 * 365 * 24 * 3_600_000;

/** Only a step can tell a run about messages, and that it has lost its session, because a replay must get the same answer. */
const HELD = { owned: true, stored: true, released: false, entries: [] };
const KEPT = { owned: true, stored: true, released: true, entries: [] };

/** Stops a run if somebody has posted that. Not a step, so that no step of the run waits for it. */
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
