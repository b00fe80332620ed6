import type { SessionStore } from '../../../state/session-store.js';
import { ResumeClaimedError, SessionStoreError } from '../../session-error.js';
import type { Run } from '../run.js';

const CLAIM_MS = 30_000;

/** The stored session whose open calls a run resumes. */
export interface ClaimTarget {
  readonly store: SessionStore;
  readonly id: string;
  readonly uid: string;
  readonly revision: number;
}

/** The exclusive right of one run to resume a session. Renewed every third of its time, until a save or a release. */
export class ResumeClaim {
  attempt = 1;
  /** Sent with each save while the claim is held. */
  token: string | undefined = undefined;
  /** The same for every attempt on these calls. */
  readonly idempotencyKey: string;
  private ttlMs = CLAIM_MS;
  private taking: Promise<void> | undefined = undefined;
  private stop = () => {};

  constructor(private readonly target: ClaimTarget) {
    this.idempotencyKey = `${target.uid}:${target.revision}`;
  }

  /** Rejects with a ResumeClaimedError if another run resumes the session or has resumed it. */
  take(run: Run): Promise<void> {
    this.taking = this.claim(run);
    return this.taking;
  }

  /** Stops the renewals, because the claim has ended in the store. */
  end(): void {
    this.token = undefined;
    this.stop();
  }

  /** Returns true if another run has taken over the claim. */
  async isLost(): Promise<boolean> {
    const { token, target, ttlMs } = this;
    return token !== undefined && !(await target.store.renew(target.id, token, ttlMs));
  }

  /** Ends a claim without a save. If the store fails, the claim ends after its time. */
  async release(): Promise<void> {
    await this.taking?.catch(() => {});
    const { token, target } = this;
    this.end();
    try {
      if (token !== undefined) await target.store.release(target.id, token);
    } catch {}
  }

  private async claim(run: Run): Promise<void> {
    const { store, id, revision } = this.target;
    const { claimMs: ttlMs = CLAIM_MS } = run.config.timeouts;
    this.ttlMs = ttlMs;
    this.token = crypto.randomUUID();
    let attempt: number | undefined;
    try {
      attempt = await store.claim(id, { token: this.token, revision, ttlMs });
    } catch (error) {
      throw run.end.own(new SessionStoreError(id, 'claimed', error));
    }
    if (attempt === undefined) {
      this.end();
      throw run.end.own(new ResumeClaimedError(id));
    }
    this.attempt = attempt;
    this.renewLater(run);
  }

  private renewLater(run: Run): void {
    const { clock } = run.config;
    const renew = async () => {
      try {
        if (await this.isLost()) return run.end.abort(new ResumeClaimedError(this.target.id));
      } catch {
        // A store that is away may be back at the next renewal. The save fails if another run took over meanwhile.
      }
      if (this.token !== undefined) this.renewLater(run);
    };
    const handle = clock.setTimeout(() => void renew(), Math.max(1, this.ttlMs / 3));
    this.stop = () => clock.clearTimeout(handle);
  }
}
