/**
 * The trust gate: it decides whether something from the workspace may run, be imported, be connected to or be read. One
 * gate serves all loaders of an agent.
 *
 * @packageDocumentation
 */
export type { Approval, TrustStore } from './approvals/store.js';
export type {
  AllowedDecision,
  AllowedReason,
  ApprovalPart,
  ApprovalRequest,
  Approver,
  DeniedDecision,
  DeniedReason,
  TrustDecision,
  VerifiedItem,
} from './decision.js';
export { ItemUnboundError, TrustStoreError } from './error.js';
export type { BoundFile } from './fingerprint/bound-file.js';
export { createTrustGate, type TrustGate } from './gate.js';
export type { TrustGateOptions, UserHooksChange } from './gate-options.js';
export type { TrustItem, TrustKind, TrustScope } from './item.js';
export type { TrustedLaunch } from './launch.js';
export { terminalApprover } from './terminal/approver.js';
export { terminalAsk } from './terminal/ask.js';
export type { TerminalOptions } from './terminal/prompt.js';
