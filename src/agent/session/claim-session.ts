import { sleep } from '../../internal/clock.js';
import { logFailure } from '../../internal/logger.js';
import { knownOf } from '../../state/record/session-record.js';
import type { ClaimAnswer } from '../../state/session-store.js';
import { Claim } from './claim.js';
import { SessionBusyError, SessionStoreError } from './session-error.js';
import type { StoredSession } from './stored-session.js';

/** The default of `timeouts.claimMs`. */
export const CLAIM_MS = 30_000;
/** The shortest pause between two attempts to claim the conversation from a run of another process. */
const LEAST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 500;

/** How long a run waits until earlier runs of its session have ended. */
export interface SessionWait {
  /** Rejects when the run is aborted before it begins. */
  readonly wait: <T>(promise: Promise<T>) => Promise<T>;
  /** The end of the wait, in milliseconds since the epoch. */
  readonly until: number;
  readonly queueMs: number;
}

/** A run that claims the conversation. */
interface Claimant {
  /** The id of the run. */
  readonly run: string;
  readonly by?: string | undefined;
  readonly claimMs?: number | undefined;
}

/**
 * Claims the conversation, and loads the entries that other processes have added. Waits while a run of another process
 * has the claim. Throws a SessionBusyError after `queueMs`.
 *
 * Waiting processes try again after random pauses, so they do not get the claim in the order of their requests.
 */
export async function claimSession(session: StoredSession, claimant: Claimant, waiting: SessionWait): Promise<Claim> {
  const { id, store, record, options, agent } = session;
  const { clock, timeouts } = agent.defaults;
  const { run, by, claimMs: ttlMs = timeouts.claimMs ?? CLAIM_MS } = claimant;
  const { owner, title, data } = options;
  const token = crypto.randomUUID();
  for (;;) {
    const known = knownOf(record);
    const details = { owner, title, data };
    // The claim of a durable run does not expire.
    const until = agent.durable === undefined ? clock.now() + ttlMs : Number.POSITIVE_INFINITY;
    const asked = Promise.resolve(store.claim(id, { token, run, by, ttlMs, known, details })).catch((error) => {
      throw new SessionStoreError(id, 'claimed', error);
    });
    const answer = await waitFor(asked, session, { token, waiting });
    if (answer.claimed) {
      record.take(answer);
      if (answer.lost !== undefined) closeLog(session, answer.lost);
      const claim = new Claim({ store, id, record, token, run, ttlMs, until, clock });
      if (!record.isWhole) await waiting.wait(session.loadAll()).catch((error) => letGo(session, claim, error));
      return claim;
    }
    const left = waiting.until - clock.now();
    if (left <= 0) throw new SessionBusyError(id, waiting.queueMs, answer.holder);
    const pause = LEAST_PAUSE_MS + Math.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
    await waiting.wait(sleep(Math.min(left, pause), clock));
  }
}

/** Closes the log of a run whose process has stopped, so that its readers end. */
function closeLog({ options: { runLog }, agent }: StoredSession, run: string): void {
  const closing = (async () => runLog?.close(run, 'lost'))();
  closing.catch((error) => logFailure(agent.defaults, `The log of run "${run}" could not be closed.`, error));
}

function letGo(session: StoredSession, claim: Claim, error: unknown): never {
  session.ending = claim.release().catch(() => {});
  throw error;
}

/**
 * Waits until the store grants or refuses the claim. If the run is aborted first, a claim that is granted later is
 * released, and the next run waits for the release.
 */
async function waitFor(
  asked: Promise<ClaimAnswer>,
  session: StoredSession,
  { token, waiting }: { readonly token: string; readonly waiting: SessionWait },
): Promise<ClaimAnswer> {
  try {
    return await waiting.wait(asked);
  } catch (error) {
    const { store, id } = session;
    const letGo = (answer: ClaimAnswer) =>
      answer.claimed && store.append(id, { token, length: answer.length, entries: [], release: true });
    session.ending = asked.then(letGo).catch(() => {});
    throw error;
  }
}
