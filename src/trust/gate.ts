import { describeError } from '../errors.js';
import { realLocation } from '../process/files/location.js';
import { findResourceFailure } from '../process/spawn-failure.js';
import { Approvals } from './approvals/approvals.js';
import { type Identified, TrustStore } from './approvals/store.js';
import { UserWatch } from './approvals/user-watch.js';
import {
  type AllowedDecision,
  allow,
  type DeniedDecision,
  type DeniedReason,
  deny,
  type TrustDecision,
  type VerifiedItem,
} from './decision.js';
import { ItemUnboundError, TrustStoreError } from './error.js';
import { FileHashes } from './fingerprint/file-hashes.js';
import { type Fingerprint, fingerprintLocated } from './fingerprint/fingerprint.js';
import { openSnapshot } from './fingerprint/snapshot.js';
import { type GateSettings, resolveGateOptions, type TrustGateOptions } from './gate-options.js';
import type { TrustItem } from './item.js';
import { type LocatedItem, launchOf, locateItem, scopeOf, validateItem } from './launch.js';
import { createPathGuard } from './protected-path.js';

/** Decides whether an item may run, be imported, be connected to or be read. */
export interface TrustGate {
  /**
   * Decides whether an item is allowed. Items of the host and of the user are allowed. Items of the workspace need an
   * approval of exactly their content.
   *
   * Asks the user if necessary. Never rejects: an item that cannot be checked is denied.
   */
  authorize(item: TrustItem): Promise<TrustDecision>;
  /**
   * Decides as `authorize` does, but asks nobody and records nothing: an item without an approval or without its
   * program is denied. Never rejects.
   */
  check?(item: TrustItem): Promise<TrustDecision>;
  /**
   * Asks the user once about all parts of an extension package that nobody approved or declined. `authorize` then
   * decides on each part without a prompt. Never rejects. If a gate lacks this method, `authorize` asks about each
   * part.
   */
  authorizeParts?(whole: TrustItem, parts: readonly TrustItem[]): Promise<void>;
  /**
   * Checks that an allowed item still has the approved content, and returns what to start. Call it right before each
   * use: the result is valid for one use. Never rejects.
   */
  verify(decision: AllowedDecision): Promise<VerifiedItem | DeniedDecision>;
  /** Revokes the approvals with this digest for all processes. Returns their number. */
  revoke(digest: string): Promise<number>;
  /** True if writing to the path could change what is trusted. Also true for paths that do not exist yet. */
  isProtectedPath(path: string): boolean;
  readonly store: TrustStore;
}

/**
 * Creates a trust gate. Throws an `OptionInvalidError` if its state directory would lie in the workspace.
 *
 * @example
 * const gate = createTrustGate({ appName: 'my-agent', workspaceDir: process.cwd(), approve: terminalApprover() });
 * const agent = new Agent({ model, loaders: [shellHooks({ gate }), mcpServers({ gate })] });
 */
export function createTrustGate(options: TrustGateOptions): TrustGate {
  return new ContentGate(resolveGateOptions(options));
}

class ContentGate implements TrustGate {
  readonly store: TrustStore;
  readonly isProtectedPath: (path: string) => boolean;
  private readonly approvals: Approvals;
  private readonly watch: UserWatch;
  private readonly hashes = new FileHashes();

  constructor(private readonly settings: GateSettings) {
    const { place, logger } = settings;
    this.store = new TrustStore({ ...place, logger });
    this.approvals = new Approvals(this.store, settings);
    this.watch = new UserWatch(this.store, settings);
    this.isProtectedPath = createPathGuard(settings);
  }

  async authorize(item: TrustItem): Promise<TrustDecision> {
    const decision = await this.judge(item, async (fingerprint) => {
      for (;;) {
        const known = await this.approvals.lookUp(fingerprint);
        if (known !== undefined) return known;
        await this.approvals.ask([fingerprint]);
      }
    });
    if (decision.scope !== 'user') return decision;
    if (decision.allowed) await this.watch.report(item);
    // The user's own items are trusted. If the program is missing, starting it reports the problem.
    const isMissing = decision.reason === 'no-executable';
    return isMissing ? allow(item, { reason: 'user', scope: 'user' }) : decision;
  }

  check(item: TrustItem): Promise<TrustDecision> {
    return this.judge(item, async (fingerprint) => {
      const before = await this.approvals.previous(fingerprint);
      const reason = before === undefined ? 'no-approver' : 'changed';
      const known = await this.approvals.lookUp(fingerprint);
      return known ?? deny(fingerprint, { reason, approvedBefore: before !== undefined });
    });
  }

  /** Decides on an item. Calls `decide` for an item of the workspace, unless nobody can approve the item. */
  private async judge(
    item: TrustItem,
    decide: (fingerprint: Fingerprint) => Promise<TrustDecision>,
  ): Promise<TrustDecision> {
    if (item.scope === 'builtin') return allow(item, { reason: 'builtin', scope: 'builtin' });
    try {
      validateItem(item);
      const unread = item.scope === 'workspace' ? await this.approvals.denyUnread(this.identified(item)) : undefined;
      if (unread !== undefined) return unread;
      const located = locateItem(item, this.settings.place);
      if (located.scope === 'workspace') return await decide(await this.fingerprint(located));
      return allow(item, { reason: 'user', scope: 'user' });
    } catch (error) {
      return this.denyUnbound(item, error);
    }
  }

  async authorizeParts(whole: TrustItem, parts: readonly TrustItem[]): Promise<void> {
    if (this.settings.approve === undefined) return;
    try {
      const open: Fingerprint[] = [];
      for (const part of parts) {
        await this.judge(part, async (fingerprint) => {
          const known = await this.approvals.lookUp(fingerprint);
          if (known === undefined) open.push(fingerprint);
          return known ?? deny(fingerprint, { reason: 'no-approver', approvedBefore: false });
        });
      }
      if (open.length > 0)
        await this.approvals.ask(open, await this.fingerprint(locateItem(whole, this.settings.place)));
    } catch (error) {
      this.settings.logger.warn(
        `The parts of ${JSON.stringify(whole.name)} could not be approved together, so the user is asked about each part`,
        error,
      );
    }
  }

  async verify(decision: AllowedDecision): Promise<VerifiedItem | DeniedDecision> {
    const { item } = decision;
    try {
      const located = locateItem(item, this.settings.place);
      if (located.scope === 'workspace') return await this.verifyContent(decision, located);
      return { ...decision, root: item.root, launch: launchOf(located, undefined) };
    } catch (error) {
      return this.denyUnbound(item, error);
    }
  }

  revoke(digest: string): Promise<number> {
    return this.approvals.forget(digest);
  }

  /** Computes a fingerprint for a decision. A file whose times of change are the same is not hashed again. */
  private fingerprint(located: LocatedItem): Promise<Fingerprint> {
    return fingerprintLocated(located, this.settings.place, { hashes: this.hashes });
  }

  private async verifyContent(
    { digest }: AllowedDecision,
    located: LocatedItem,
  ): Promise<VerifiedItem | DeniedDecision> {
    const fingerprint = await fingerprintLocated(located, this.settings.place);
    const changed = () => deny(fingerprint, { reason: 'changed', approvedBefore: true });
    if (fingerprint.digest !== digest) return changed();
    const now = await this.approvals.lookUp(fingerprint);
    // The approval was revoked after the decision. Denies without a prompt, because the program is about to start.
    if (now === undefined) return deny(fingerprint, { reason: 'no-approver', approvedBefore: true });
    if (!now.allowed) return now;
    const snapshot = fingerprint.root === undefined ? undefined : await openSnapshot(fingerprint, this.settings.place);
    if (fingerprint.root !== undefined && snapshot === undefined) return changed();
    return { ...now, root: snapshot, launch: launchOf(fingerprint, snapshot) };
  }

  private async denyUnbound(item: TrustItem, error: unknown): Promise<DeniedDecision> {
    // If the approvals cannot be read for lack of resources, an approved guard must not look like an unapproved one.
    const unknown = (problem: unknown) =>
      ({ scope: 'workspace', approvedBefore: findResourceFailure(problem) !== undefined }) as const;
    const { scope, approvedBefore } = await this.standingOf(item).catch(unknown);
    const known = error instanceof ItemUnboundError ? error : undefined;
    const reason: DeniedReason = known?.problem ?? (error instanceof TrustStoreError ? 'store-failed' : 'invalid');
    const failure = known?.failure ?? findResourceFailure(error);
    return deny({ item, scope, digest: undefined }, { reason, approvedBefore, message: describeError(error), failure });
  }

  private async standingOf(item: TrustItem): Promise<Pick<DeniedDecision, 'scope' | 'approvedBefore'>> {
    const before = await this.approvals.previous(this.identified(item));
    return { scope: scopeOf(item, this.settings.place), approvedBefore: before !== undefined };
  }

  private identified(item: TrustItem): Identified {
    const source = item.source === undefined ? undefined : realLocation(item.source);
    return { item, workspace: this.settings.place.workspace, source };
  }
}
