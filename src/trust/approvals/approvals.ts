import { describeValue } from '../../errors.js';
import { systemClock, withinMs } from '../../internal/clock.js';
import { isObject, isTexts } from '../../internal/json.js';
import {
  type ApprovalRequest,
  type Approver,
  allow,
  type DeniedDecision,
  deny,
  type PartialApproval,
  requestOf,
  requestOfParts,
  type TrustDecision,
} from '../decision.js';
import type { Fingerprint } from '../fingerprint/fingerprint.js';
import { removeSnapshot, sweepSnapshots } from '../fingerprint/snapshot.js';
import type { GateSettings } from '../gate-options.js';
import { type Approval, type Identified, identityOf, identityText, type TrustStore } from './store.js';

/** Looks up the stored approvals of items, and asks the user for new ones. */
export class Approvals {
  /** Answers of this process that are not in the store: refusals, and approvals that could not be stored. */
  private readonly answers = new Map<string, Answer>();
  /**
   * Content that this process has seen approved. It counts as approved before, even if its approval is revoked or
   * replaced, by this process or another one.
   */
  private readonly found = new Set<string>();
  private readonly open = new Map<string, Promise<void>>();
  private swept: Promise<void> | undefined = undefined;

  constructor(
    private readonly store: TrustStore,
    private readonly settings: GateSettings,
  ) {}

  /**
   * Returns a denial without reading the item, if it was never approved and nobody can approve it now. Returns undefined
   * otherwise.
   */
  async denyUnread(of: Identified): Promise<DeniedDecision | undefined> {
    const { approve, allow } = this.settings;
    if (approve !== undefined || allow !== undefined) return undefined;
    const identity = identityText(identityOf(of));
    const wasFound = [...this.found].some((key) => key.endsWith(identity));
    if (wasFound || (await this.previous(of)) !== undefined) return undefined;
    const { item } = of;
    return deny({ item, scope: 'workspace', digest: undefined }, { reason: 'no-approver', approvedBefore: false });
  }

  /** Returns the decision on exactly this content, or undefined if the user has to be asked. */
  async lookUp(fingerprint: Fingerprint): Promise<TrustDecision | undefined> {
    const { item, scope, digest } = fingerprint;
    if (this.settings.allow?.has(digest)) return allow(item, { reason: 'allow-listed', scope, digest });
    const stored = await this.previous(fingerprint);
    const key = keyOf(fingerprint);
    const answer = this.answers.get(key);
    if (stored?.digest === digest || answer === 'yes') {
      this.found.add(key);
      return allow(item, { reason: 'approved', scope, digest });
    }
    const approved = { approvedBefore: stored !== undefined || this.found.has(key) };
    if (answer !== undefined) {
      return deny(fingerprint, { reason: answer === 'no' ? 'declined' : 'approver-failed', ...approved });
    }
    return this.settings.approve ? undefined : deny(fingerprint, { reason: 'no-approver', ...approved });
  }

  /**
   * Asks the user once about an item, or about the parts of the extension package `whole`. Records the answer for each
   * part. Concurrent calls for one item share a question. Each caller then looks up the decision for the content that
   * it read.
   */
  async ask(parts: readonly Fingerprint[], whole?: Fingerprint): Promise<void> {
    const keyed = parts.map((part) => ({ part, key: identityText(identityOf(part)) }));
    const unasked = keyed.filter(({ key }) => !this.open.has(key));
    const news = unasked.map(({ part }) => part);
    const asked = this.askAnew(news, whole);
    for (const { key } of unasked) this.open.set(key, asked);
    try {
      await Promise.all(keyed.map(({ key }) => this.open.get(key)));
    } finally {
      for (const { key } of unasked) this.open.delete(key);
    }
  }

  private async askAnew(parts: readonly Fingerprint[], whole: Fingerprint | undefined): Promise<void> {
    const { approve } = this.settings;
    if (!approve || parts.length === 0) return;
    const requests: ApprovalRequest[] = [];
    for (const part of parts) requests.push(requestOf(part, (await this.previous(part))?.scripts));
    const [single] = requests;
    const request = whole === undefined ? single : requestOfParts(whole, requests);
    const answer = request === undefined ? 'failed' : await askUser(request, approve, this.settings);
    for (const part of parts) {
      const isDeclined = typeof answer === 'object' && answer.declined.includes(part.digest);
      const answerOfAll = typeof answer === 'object' ? 'yes' : answer;
      await this.record(part, isDeclined ? 'no' : answerOfAll);
    }
  }

  /** Returns the stored approval of an item, even if the content of the item has changed since. */
  async previous(of: Identified): Promise<Approval | undefined> {
    const wanted = identityText(identityOf(of));
    return (await this.store.list()).find((approval) => identityText(approval) === wanted);
  }

  async forget(digest: string): Promise<number> {
    // Cleared first: these answers exist if the store failed before, and the store may fail again.
    for (const key of this.answers.keys()) if (key.startsWith(digest)) this.answers.delete(key);
    const gone = await this.store.revoke(digest);
    await removeSnapshot(digest, this.settings.place.stateDir);
    return gone.length;
  }

  private async record(fingerprint: Fingerprint, answer: Answer): Promise<void> {
    const key = keyOf(fingerprint);
    const isStored = answer === 'yes' && (await this.write(fingerprint));
    // The answer stays in memory. Otherwise a store that fails or loses approvals would make Keelson ask again forever.
    if (!isStored) this.answers.set(key, answer);
    else if ((await this.previous(fingerprint)) === undefined) this.answers.set(key, 'no');
  }

  private async write(fingerprint: Fingerprint): Promise<boolean> {
    const { logger, clock, place } = this.settings;
    const { item, digest, scripts } = fingerprint;
    const approvedAt = new Date(clock?.now() ?? Date.now()).toISOString();
    try {
      const identity = identityOf(fingerprint);
      await this.store.approve({ ...identity, digest, scripts, approvedAt });
    } catch (error) {
      const name = JSON.stringify(item.name);
      logger.error(`The approval of ${name} could not be stored. It is valid only until this process ends.`, error);
      return false;
    }
    // Unused copies are kept for days, so one sweep per process is enough.
    this.swept ??= sweepSnapshots(place.stateDir).catch((error: unknown) => {
      logger.warn('Unused copies of extension packages could not be removed', error);
    });
    await this.swept;
    return true;
  }
}

function keyOf(fingerprint: Fingerprint): string {
  return `${fingerprint.digest} ${identityText(identityOf(fingerprint))}`;
}

/**
 * Only `true` approves. An approver that throws, times out or returns another value has failed, which refuses the item.
 */
type Answer = 'yes' | 'no' | 'failed';

/** Returns true if each declined digest belongs to a part. */
function isPartial(answer: unknown, { parts }: ApprovalRequest): answer is PartialApproval {
  if (!isObject(answer) || !isTexts(answer.declined)) return false;
  return parts.length > 0 && answer.declined.every((digest) => parts.some((part) => part.digest === digest));
}

/** Asks the approver once. Settles within the time limit whatever the approver does. */
async function askUser(
  request: ApprovalRequest,
  approve: Approver,
  { approveTimeoutMs: timeoutMs, clock = systemClock, logger }: GateSettings,
): Promise<Answer | PartialApproval> {
  const name = JSON.stringify(request.item.name);
  const refused = 'The item is not allowed to run.';
  const controller = new AbortController();
  const asking = async () => ({ answer: (await approve(request, { signal: controller.signal })) as unknown });
  try {
    const given = await withinMs(asking(), timeoutMs, clock);
    if (typeof given?.answer === 'boolean') return given.answer ? 'yes' : 'no';
    if (isPartial(given?.answer, request)) return given.answer;
    const expected = request.parts.length > 0 ? 'a boolean, or `declined` with digests of its parts,' : 'a boolean';
    const problem =
      given === undefined
        ? `The approval prompt for ${name} had no answer within ${timeoutMs} ms.`
        : `The approver must return ${expected} for ${name}, got ${describeValue(given.answer)}.`;
    logger.warn(`${problem} ${refused}`);
  } catch (error) {
    logger.error(`The approver failed for ${name}. ${refused}`, error);
  } finally {
    controller.abort();
  }
  return 'failed';
}
