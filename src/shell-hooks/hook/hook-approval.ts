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
    if (!decision.allowed) return hasChanged ? { ...decision, approvedBefore: true } : decision;
    this.decisions.set(hook, decision);
    return this.gate.verify(decision);
  }
}

/** What a denial means for the hook: one that nobody ever approved is passed over; one that changed has failed. */
export interface Denial {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
}

/** Tells a hook that cannot start from one that may not. */
export function denialOf({ failure, scope, approvedBefore, reason, message }: DeniedDecision): Denial {
  const isOurs = scope !== 'workspace' || approvedBefore;
  if (failure !== undefined && isOurs) {
    const { code, hint } = failure;
    return { status: 'failed', problem: { kind: 'not-started', message: failure.message, code, hint } };
  }
  const problem: HookProblem = { kind: 'untrusted', message: `${message} (${reason})`, hint: failure?.hint };
  return { status: isOurs ? 'failed' : 'skipped', problem };
}
