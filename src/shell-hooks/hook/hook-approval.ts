import type { AllowedDecision, DeniedDecision, VerifiedItem } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import type { ShellHook } from './definition.js';
import type { HookProblem } from './problem.js';
import { trustItemOf } from './trust-item.js';

/** Asks the gate about hooks: decided on once, verified right before each use. */
export class HookApprovals {
  private readonly decisions = new WeakMap<ShellHook, AllowedDecision>();

  constructor(
    private readonly gate: TrustGate,
    private readonly workspaceDir: string,
  ) {}

  /**
   * Whether the matcher may be tried. A pattern of the workspace may never end: it is tried once somebody has seen and
   * approved it, and counts as matching until then.
   */
  mayMatch(hook: ShellHook): boolean {
    return !hook.isPattern || hook.scope !== 'workspace' || this.decisions.has(hook);
  }

  /** What exactly to start, for once and at once; or why nothing is to be started. */
  async permit(hook: ShellHook): Promise<VerifiedItem | DeniedDecision> {
    const known = this.decisions.get(hook);
    const verified = known && (await this.gate.verify(known));
    if (verified?.allowed) return verified;
    // Its approval was taken back where it is just what was decided on; else it has changed, and stays the one that did.
    const hasChanged = verified !== undefined && (verified.digest === undefined || verified.digest !== known?.digest);
    if (!hasChanged) this.decisions.delete(hook);
    // What is not as it was approved is asked about anew.
    const decision = await this.gate.authorize(trustItemOf(hook, this.workspaceDir));
    if (!decision.allowed) {
      return hasChanged ? { ...decision, approvedBefore: true, approvedMatcher: hook.matcher } : decision;
    }
    this.decisions.set(hook, decision);
    return this.gate.verify(decision);
  }
}

/** What a denial means for the hook: one that nobody ever approved is passed over; one that changed has failed. */
export interface Denial {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
}

/**
 * Whether nobody can say what a pattern is for: its hook was approved with another one, and is not approved with this
 * one. Such a hook refuses every call of its event.
 */
export function isForUnknownCalls(hook: ShellHook, decision: VerifiedItem | DeniedDecision): boolean {
  return !decision.allowed && decision.approvedBefore && decision.approvedMatcher !== hook.matcher;
}

/** Tells a hook that cannot start from one that may not. */
export function denialOf(denied: DeniedDecision, isForUnknown = false): Denial {
  const { failure, scope, approvedBefore, reason } = denied;
  const more = isForUnknown ? ' Since its matcher has changed as well, it counts for every call.' : '';
  const message = denied.message + more;
  const isOurs = scope !== 'workspace' || approvedBefore;
  if (failure !== undefined && isOurs) {
    const { code, hint } = failure;
    return { status: 'failed', problem: { kind: 'not-started', message: failure.message + more, code, hint } };
  }
  const problem: HookProblem = { kind: 'untrusted', message: `${message} (${reason})`, hint: failure?.hint };
  return { status: isOurs ? 'failed' : 'skipped', problem };
}
