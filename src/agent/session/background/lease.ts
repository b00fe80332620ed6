import { repeat } from '../../../internal/clock.js';
import { CLAIM_MS } from '../claim-session.js';
import { SessionStoreError } from '../session-error.js';
import type { StoredSession } from '../stored-session.js';

/**
 * A background work with the duration of its lease in milliseconds. If the lease is not renewed in this time, other
 * processes count the work as lost.
 */
interface LeasedWork {
  readonly id: string;
  readonly ttlMs: number;
}

/**
 * Takes and renews the lease of a background work. Returns a function that removes the lease. Calls `onLost` if another
 * process has counted the work as lost.
 *
 * The lease is a claim on a conversation that never gets an entry, so every session store supports it, and `list` does
 * not show it.
 */
export async function takeLease(
  session: StoredSession,
  { id, ttlMs }: LeasedWork,
  onLost: () => void,
): Promise<() => Promise<void>> {
  const { store, agent } = session;
  const lease = leaseOf(session, id);
  const token = crypto.randomUUID();
  try {
    await store.claim(lease, { token, run: id, ttlMs });
  } catch (error) {
    throw new SessionStoreError(session.id, 'claimed', error);
  }
  const renew = async () => {
    if (!(await store.renew(lease, { token, ttlMs }))) onLost();
  };
  const stopRenewing = repeat(renew, Math.max(1, ttlMs / 3), agent.defaults.clock);
  return async () => {
    stopRenewing();
    await store.delete(lease);
  };
}

/** Removes the lease of a work whose process has stopped. Returns false while the process renews it. */
export async function removeLost(session: StoredSession, work: string): Promise<boolean> {
  const { store } = session;
  const lease = leaseOf(session, work);
  try {
    const { claimed } = await store.claim(lease, { token: crypto.randomUUID(), run: work, ttlMs: CLAIM_MS });
    if (claimed) await store.delete(lease);
    return claimed;
  } catch (error) {
    throw new SessionStoreError(session.id, 'claimed', error);
  }
}

function leaseOf({ id }: StoredSession, work: string): string {
  return `${id}:background:${work}`;
}
