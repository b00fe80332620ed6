export type { Spawn } from '../process/process-group.js';
export type { SpawnFailure, SpawnFailureCode } from '../process/spawn-failure.js';
export type { Approval } from '../trust/approvals/approval.js';
export type { TrustStore } from '../trust/approvals/store.js';
export { type TerminalApproverOptions, terminalApprover } from '../trust/approvals/terminal-approver.js';
export type {
  AllowedDecision,
  AllowedReason,
  ApprovalRequest,
  Approver,
  DeniedDecision,
  DeniedReason,
  TrustDecision,
  VerifiedItem,
} from '../trust/decision.js';
export type { BoundFile } from '../trust/fingerprint/bound-file.js';
export { createTrustGate, type TrustGate } from '../trust/gate.js';
export type { TrustGateOptions, UserHooksChange } from '../trust/gate-options.js';
export type { BindingLimits, TrustItem, TrustKind, TrustScope } from '../trust/item.js';
export type { TrustedLaunch } from '../trust/launch.js';
export type { JsonObject } from './dialects/json-object.js';
export { HookCancelledError, HookFileError, HookInvalidError } from './error.js';
export type {
  EventFields,
  HookEventContext as Occasion,
  HookMatchInput as Subject,
  ToolNames,
} from './events/hook-event-context.js';
export type { HookDiagnostic, Report } from './files/diagnostic.js';
export type { HookFile } from './files/hook-file.js';
export { parseHooks } from './files/hook-file.js';
export type { HookContent, HookSource } from './files/source.js';
export type { HookDefinition, HookOrigin, HookRegistration, ShellHook } from './hook/definition.js';
export type { HookEffects, ToolChoiceLimit } from './hook/effects.js';
export type { HookDialect } from './hook/event.js';
export { HOOK_EVENTS, type HookEvent } from './hook/event.js';
export type { Matcher } from './hook/matcher.js';
export type { HookProblem, HookProblemKind } from './hook/problem.js';
export { type HookFilter, HookRegistry } from './hook/registry.js';
export { type ShellHookStatus, type ShellHooks, type ShellHooksStatus, shellHooks } from './loader.js';
export type { HookMachineOptions, HookMap, ShellHooksOptions } from './options.js';
export type { HookEventResult, HookOutcome, HookVerdict } from './run/event-progress.js';
export type { HookNotice, HookRunner } from './run/runner.js';
