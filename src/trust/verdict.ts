import type { AllowedDecision, AllowedReason, DeniedDecision, DeniedReason } from './decision.js';
import type { Fingerprint } from './fingerprint/fingerprint.js';
import type { TrustItem, TrustScope } from './item.js';

interface Allowance {
  readonly reason: AllowedReason;
  readonly scope: TrustScope;
  readonly digest?: string;
}

/** It may be used. */
export function allow(item: TrustItem, { reason, scope, digest }: Allowance): AllowedDecision {
  return { allowed: true, reason, scope, item, digest };
}

type Denial = Pick<DeniedDecision, 'approvedBefore'> & Partial<DeniedDecision> & { readonly reason: DeniedReason };

const REFUSALS: Readonly<Partial<Record<DeniedReason, string>>> = {
  'no-approver': 'it was not approved, and there is nobody to ask',
  declined: 'the answer was no',
  'approver-failed': 'the approver failed to answer',
  changed: 'it is not what was approved',
};

/** It may not be used, and why. */
export function deny(
  of: Pick<Fingerprint, 'item' | 'scope'> & { digest: string | undefined },
  denial: Denial,
): DeniedDecision {
  const { item, scope, digest } = of;
  const why = denial.message?.replace(/\.$/, '') ?? REFUSALS[denial.reason] ?? denial.reason;
  const message = `The ${item.kind} ${JSON.stringify(item.name)} may not be used: ${why}.`;
  return { failure: undefined, ...denial, allowed: false, scope, item, digest, message };
}
