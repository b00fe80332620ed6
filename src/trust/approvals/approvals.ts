import { systemClock } from '../../internal/clock.js';
import { type ApprovalRequest, type Approver, allow, deny, requestOf, type TrustDecision } from '../decision.js';
import type { Fingerprint } from '../fingerprint/fingerprint.js';
import { removeSnapshot, sweepSnapshots } from '../fingerprint/snapshot.js';
import type { GateSettings } from '../gate-options.js';
import { type Approval, type Identified, identityOf, identityText, matcherOf } from './approval.js';
import type { TrustStore } from './store.js';

/** Looks answers up and asks for new ones: in the store, in this process, and in the host's own list. */
export class Approvals {
  /** The answers that are not in the store: a no, and a yes that could not be stored. */
  private readonly answers = new Map<string, Answer>();
  /** Content that this process found approved: it has changed if that is gone and nobody here took it back. */
  private readonly found = new Set<string>();
  private readonly open = new Map<string, Promise<void>>();
  private isSwept = false;

  constructor(
    private readonly store: TrustStore,
    private readonly settings: GateSettings,
  ) {}

  /** Returns the answer to this very content, or undefined if the user has to be asked. */
  async lookUp(fingerprint: Fingerprint): Promise<TrustDecision | undefined> {
    const { item, scope, digest } = fingerprint;
    if (this.settings.allow.has(digest)) return allow(item, { reason: 'allow-listed', scope, digest });
    const stored = await this.previous(fingerprint);
    const key = keyOf(fingerprint);
    const answer = this.answers.get(key);
    if (stored?.digest === digest || answer === 'yes') {
      this.found.add(key);
      return allow(item, { reason: 'approved', scope, digest });
    }
    const wasFound = this.found.has(key);
    const approved = {
      approvedBefore: stored !== undefined || wasFound,
      approvedMatcher: wasFound ? matcherOf(item) : stored?.matcher,
    };
    if (answer !== undefined) {
      return deny(fingerprint, { reason: answer === 'no' ? 'declined' : 'approver-failed', ...approved });
    }
    return this.settings.approve ? undefined : deny(fingerprint, { reason: 'no-approver', ...approved });
  }

  /** Asks the user and keeps the answer. Concurrent callers share one question; each looks up its own content after it. */
  async ask(fingerprint: Fingerprint): Promise<void> {
    const key = identityText(identityOf(fingerprint));
    const asked = this.open.get(key) ?? this.askAnew(fingerprint).finally(() => this.open.delete(key));
    this.open.set(key, asked);
    await asked;
  }

  /** The approval that an item has, whatever it was approved as. */
  async previous(of: Identified): Promise<Approval | undefined> {
    const wanted = identityText(identityOf(of));
    return (await this.store.list()).find((approval) => identityText(approval) === wanted);
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

  private async askAnew(fingerprint: Fingerprint): Promise<void> {
    const { approve } = this.settings;
    if (!approve) return;
    const request = requestOf(fingerprint, (await this.previous(fingerprint))?.scripts);
    const answer = await askUser(request, approve, this.settings);
    // A yes that does not come back from the store would be asked for again and again.
    const isStored = answer === 'yes' && (await this.write(fingerprint));
    if (!isStored) this.answers.set(keyOf(fingerprint), answer);
  }

  private async write(fingerprint: Fingerprint): Promise<boolean> {
    const { logger, place, clock } = this.settings;
    const { item, digest, scripts } = fingerprint;
    const approvedAt = new Date(clock?.now() ?? Date.now()).toISOString();
    try {
      const matcher = matcherOf(item);
      await this.store.approve({ ...identityOf(fingerprint), ...{ digest, scripts, matcher, approvedAt } });
      const kept = new Set((await this.store.list()).map((approval) => approval.digest));
      // Copies live for days: once a process is enough.
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

function keyOf(fingerprint: Fingerprint): string {
  return `${fingerprint.digest} ${identityText(identityOf(fingerprint))}`;
}

/** Only `true` is a yes; an approver that fails, or takes too long, has said no. */
type Answer = 'yes' | 'no' | 'failed';

/** Asks once, and settles in time whatever the approver does. */
async function askUser(request: ApprovalRequest, approve: Approver, settings: GateSettings): Promise<Answer> {
  const { approveTimeoutMs: timeoutMs, clock = systemClock, logger } = settings;
  const controller = new AbortController();
  let timer: unknown;
  const late = new Promise<Answer>((resolve) => {
    timer = clock.setTimeout(() => {
      logger.warn(
        `Nobody answered within ${timeoutMs} ms whether ${JSON.stringify(request.item.name)} may run: it does not.`,
      );
      resolve('failed');
    }, timeoutMs);
  });
  const answered = Promise.resolve()
    .then(() => approve(request, { signal: controller.signal }))
    .then((answer: unknown): Answer => {
      if (typeof answer === 'boolean') return answer ? 'yes' : 'no';
      logger.warn(`The approver gave no boolean for ${JSON.stringify(request.item.name)}: it does not run.`);
      return 'failed';
    })
    .catch((error: unknown): Answer => {
      logger.error(`The approver failed for ${JSON.stringify(request.item.name)}: it does not run.`, error);
      return 'failed';
    });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clock.clearTimeout(timer);
    controller.abort();
  }
}
