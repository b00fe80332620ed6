import type { TrustDecision } from '../decision.js';
import type { Fingerprint } from '../fingerprint/fingerprint.js';
import { removeSnapshot, sweepSnapshots } from '../fingerprint/snapshot.js';
import type { GateSettings } from '../gate-options.js';
import type { TrustItem } from '../item.js';
import { allow, deny } from '../verdict.js';
import { type Approval, identityOf, identityText } from './approval.js';
import type { Answer } from './question.js';
import type { TrustStore } from './store.js';

/** What was decided before: in the store, in this process, and by the host's own list. */
export class ApprovalMemory {
  /** What was answered and is not in the store: a no, and a yes that could not be stored. */
  private readonly answers = new Map<string, Answer>();
  /** What this process found approved: it has changed where that is gone and nobody here took it back. */
  private readonly found = new Set<string>();
  private isSwept = false;

  constructor(
    private readonly store: TrustStore,
    private readonly settings: GateSettings,
  ) {}

  /** What is known of this very content, or undefined where the user has to be asked. */
  async recall(fingerprint: Fingerprint): Promise<TrustDecision | undefined> {
    const { item, scope, digest } = fingerprint;
    if (this.settings.allow.has(digest)) return allow(item, { reason: 'allow-listed', scope, digest });
    const stored = await this.previous(item, fingerprint);
    const key = keyOf(fingerprint);
    const answer = this.answers.get(key);
    if (stored?.digest === digest || answer === 'yes') {
      this.found.add(key);
      return allow(item, { reason: 'approved', scope, digest });
    }
    const approvedBefore = stored !== undefined || this.found.has(key);
    if (answer !== undefined) {
      return deny(fingerprint, { reason: answer === 'no' ? 'declined' : 'approver-failed', approvedBefore });
    }
    return this.settings.approve ? undefined : deny(fingerprint, { reason: 'no-approver', approvedBefore });
  }

  /** The approval that an item has, whatever it was approved as. The paths are those without links. */
  async previous(item: TrustItem, at: Pick<Fingerprint, 'workspace' | 'source'>): Promise<Approval | undefined> {
    const wanted = identityText(identityOf(item, at.workspace, at.source));
    return (await this.store.list()).find((approval) => identityText(approval) === wanted);
  }

  async keep(fingerprint: Fingerprint, answer: Answer): Promise<void> {
    // Where a yes does not come back from the store, it would be asked for again and again.
    const isStored = answer === 'yes' && (await this.write(fingerprint));
    if (!isStored) this.answers.set(keyOf(fingerprint), answer);
  }

  async forget(digest: string): Promise<number> {
    // First, since these are also there because the store fails.
    for (const known of [this.answers, this.found]) {
      for (const key of known.keys()) if (key.startsWith(digest)) known.delete(key);
    }
    const gone = await this.store.revoke(digest);
    await removeSnapshot(digest, this.settings.place.stateDir);
    return gone.length;
  }

  private async write(fingerprint: Fingerprint): Promise<boolean> {
    const { logger, place, clock } = this.settings;
    const { item, workspace, source, digest, scripts } = fingerprint;
    const approvedAt = new Date(clock?.now() ?? Date.now()).toISOString();
    try {
      await this.store.approve({ ...identityOf(item, workspace, source), ...{ digest, scripts, approvedAt } });
      const kept = new Set((await this.store.list()).map((approval) => approval.digest));
      // What it goes by are days: once a process is enough, and each copy is looked at.
      if (!this.isSwept) await sweepSnapshots(place.stateDir, kept);
      this.isSwept = true;
      return kept.has(digest);
    } catch (error) {
      const name = JSON.stringify(item.name);
      logger.error(`The approval of ${name} could not be stored: it holds until this process ends.`, error);
      return false;
    }
  }
}

function keyOf({ digest, item, workspace, source }: Fingerprint): string {
  return `${digest} ${identityText(identityOf(item, workspace, source))}`;
}
