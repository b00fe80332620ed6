import type { AllowedDecision, DeniedDecision, TrustDecision, VerifiedItem } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import type { ShellHook } from './definition.js';
import type { HookProblem } from './problem.js';
import { trustItemOf } from './trust-item.js';

/** Authorizes each hook once with the trust gate, and verifies it right before each run. */
export class HookApprovals {
  private readonly decisions = new WeakMap<ShellHook, AllowedDecision>();
  private readonly deciding = new Map<ShellHook, Promise<TrustDecision>>();

  constructor(
    private readonly gate: TrustGate,
    private readonly workspaceDir: string,
  ) {}

  /**
   * Returns true if the matcher may be evaluated. A regular expression of the workspace counts as matching until it is
   * approved: a changed one must not switch off a guard.
   */
  mayMatch(hook: ShellHook): boolean {
    return hook.pattern === undefined || this.mayTest(hook);
  }

  /** Returns true if the condition may be tested. Until a workspace hook is approved, its condition counts as met. */
  mayTest(hook: ShellHook): boolean {
    return hook.scope !== 'workspace' || this.decisions.has(hook);
  }

  /**
   * Authorizes a hook that was not authorized before, which may prompt the user. Concurrent calls for one hook share one
   * check.
   */
  async authorize(hook: ShellHook): Promise<TrustDecision> {
    const known = this.decisions.get(hook);
    if (known !== undefined) return known;
    const running = this.deciding.get(hook);
    if (running !== undefined) return running;
    const deciding = this.gate.authorize(trustItemOf(hook, this.workspaceDir));
    this.deciding.set(hook, deciding);
    try {
      const decision = await deciding;
      if (decision.allowed) this.decisions.set(hook, decision);
      return decision;
    } finally {
      this.deciding.delete(hook);
    }
  }

  isAllowed(hook: ShellHook): boolean {
    return this.decisions.has(hook);
  }

  /** Returns the denial that the hook would get now. Asks nobody. */
  async check(hook: ShellHook): Promise<DeniedDecision | undefined> {
    const decision = await this.gate.check?.(trustItemOf(hook, this.workspaceDir));
    return decision?.allowed === false ? decision : undefined;
  }

  /** Returns the program to start, or a denial. The result is valid for one immediate start. */
  async verify(hook: ShellHook): Promise<VerifiedItem | DeniedDecision> {
    const known = this.decisions.get(hook);
    const verified = known && (await this.gate.verify(known));
    if (verified?.allowed) return verified;
    // The same digest means that the approval was revoked. Otherwise the hook has changed, and the old decision is kept
    // so that the next check also finds the change.
    const hasChanged = verified !== undefined && (verified.digest === undefined || verified.digest !== known?.digest);
    if (!hasChanged) this.decisions.delete(hook);
    // A revoked or changed hook needs a new approval.
    const decision = await this.gate.authorize(trustItemOf(hook, this.workspaceDir));
    if (!decision.allowed) {
      return hasChanged ? { ...decision, approvedBefore: true, approvedMatcher: hook.matcher } : decision;
    }
    this.decisions.set(hook, decision);
    return this.gate.verify(decision);
  }
}

/**
 * Effect of a denial on the hook. A workspace hook that was never approved is `skipped`; every other denied hook is
 * `failed`.
 */
export interface Denial {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
}

/**
 * Returns true if a hook is denied and its matcher differs from the approved matcher. No trusted matcher exists then,
 * so the hook fails at every call of its event.
 */
export function isForUnknownCalls(hook: ShellHook, decision: VerifiedItem | DeniedDecision): boolean {
  return !decision.allowed && decision.approvedBefore && decision.approvedMatcher !== hook.matcher;
}

/**
 * Returns the status and problem of a denied hook: `not-started` if its program cannot start, `untrusted` if an
 * approval is missing.
 */
export function denialOf(denied: DeniedDecision, isForUnknown = false): Denial {
  const { failure, scope, approvedBefore, reason } = denied;
  const more = isForUnknown ? ' Its matcher has also changed, so the hook applies to every call.' : '';
  const message = denied.message + more;
  const isOurs = scope !== 'workspace' || approvedBefore;
  if (failure !== undefined && isOurs) {
    const { code, hint } = failure;
    return { status: 'failed', problem: { kind: 'not-started', message: failure.message + more, code, hint } };
  }
  const problem: HookProblem = { kind: 'untrusted', message: `${message} (${reason})`, hint: failure?.hint };
  return { status: isOurs ? 'failed' : 'skipped', problem };
}
