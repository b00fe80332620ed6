export type { Changes } from '../internal/changes.js';
export type { InheritedVariables } from '../process/environment.js';
export type { Spawn } from '../process/process-group.js';
export type { HookDialect } from '../programs/hook-event.js';
export { HOOK_EVENTS, type HookEvent } from '../programs/hook-event.js';
export type { HookFile } from './files/hook-file.js';
export { parseHooks } from './files/hook-file.js';
export type { GuardStatus } from './guards.js';
export type { HookDefinition, HookOrigin, HookRegistration, HttpHandler, ShellHook } from './hook/definition.js';
export type { HookContent, HookDiagnostic, HookSource } from './hook/diagnostic.js';
export type {
  HookEffects,
  HookProblem,
  HookProblemKind,
  RequestChange,
  ToolChoiceLimit,
} from './hook/effects.js';
export { HookCancelledError, HookEventInvalidError, HookFileError, HookInvalidError } from './hook/error.js';
export type { HookEventContext, ToolMapping, ToolNames, TranscriptMessages } from './hook/event-context.js';
export { type HookFilter, HookRegistry } from './hook/registry.js';
export { type ShellHookStatus, type ShellHooks, type ShellHooksStatus, shellHooks } from './loader.js';
export type { HookMachineOptions, HookMap, ShellHooksOptions, TranscriptOptions } from './options.js';
export type { HookEventResult, HookOutcome, HookVerdict } from './run/outcome.js';
export type { HookEventData } from './run/plain-events.js';
export type { HookNotice, HookRunner } from './run/runner.js';
