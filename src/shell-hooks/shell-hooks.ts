export type { Spawn } from '../process/process-group.js';
export type { SpawnFailure, SpawnFailureCode } from '../process/spawn-failure.js';
export type { Approval } from '../trust/approval.js';
export type { BoundFile } from '../trust/bound-file.js';
export type { TrustGateOptions } from '../trust/gate-options.js';
export type { TrustedLaunch } from '../trust/launch.js';
export { type TerminalApproverOptions, terminalApprover } from '../trust/terminal-approver.js';
export type {
  AllowedDecision,
  AllowedReason,
  ApprovalRequest,
  Approver,
  DeniedDecision,
  DeniedReason,
  TrustDecision,
  VerifiedItem,
} from '../trust/trust-decision.js';
export { createTrustGate, type TrustGate } from '../trust/trust-gate.js';
export type { BindingLimits, TrustItem, TrustKind, TrustScope } from '../trust/trust-item.js';
export type { TrustStore } from '../trust/trust-store.js';
export type { UserHooksChange } from '../trust/user-watch.js';
export type { HookDiagnostic, Report } from './diagnostic.js';
export type { HookEventResult, HookOutcome, HookVerdict } from './event-progress.js';
export type { HookDefinition, HookOrigin, HookRegistration, ShellHook } from './hook-definition.js';
export type { HookDialect } from './hook-dialect.js';
export type { HookEffects, ToolChoiceLimit } from './hook-effects.js';
export { HookCancelledError, HookFileError, HookInvalidError } from './hook-error.js';
export { HOOK_EVENTS, type HookEvent } from './hook-event.js';
export type { HookFile } from './hook-file.js';
export type { Matcher } from './hook-matcher.js';
export type { HookProblem, HookProblemKind } from './hook-problem.js';
export { type HookFilter, HookRegistry } from './hook-registry.js';
export type { HookNotice, HookRunner } from './hook-runner.js';
export type { HookContent, HookSource } from './hook-source.js';
export type { JsonObject } from './json-object.js';
export type { EventFields, Occasion, Subject, ToolNames } from './occasion.js';
export { parseHooks } from './parse-hooks.js';
export { type ShellHookStatus, type ShellHooks, type ShellHooksStatus, shellHooks } from './shell-hooks-loader.js';
export type { HookMachineOptions, HookMap, ShellHooksOptions } from './shell-hooks-options.js';
