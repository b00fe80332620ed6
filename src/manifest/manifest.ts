export type { ManifestDiagnostic, ManifestProblem } from '../internal/problem.js';
export { SkillParametersError, SkillUnavailableError, SkillUnknownError } from '../skills/error.js';
export type { SkillArguments } from '../skills/prompt.js';
export type { Skills } from '../skills/registry.js';
export type { ExtensionScope, SettingValue, Skill, SkillParameter } from '../skills/skill.js';
export { type TerminalApproverOptions, terminalApprover } from '../trust/approvals/terminal-approver.js';
export type { ApprovalRequest, Approver } from '../trust/decision.js';
export { createTrustGate, type TrustGate } from '../trust/gate.js';
export type { TrustGateOptions } from '../trust/gate-options.js';
export type { ExtensionServer } from './active/installed-servers.js';
export { ExtensionStateError, ExtensionUnknownError } from './error.js';
export type {
  Extension,
  ManifestContent,
  ManifestFormat,
  ManifestHook,
  ManifestSkill,
  SettingDefinition,
} from './extension.js';
export type { ReadManifest } from './formats/format.js';
export { parseManifest } from './formats/native.js';
export { manifestJsonSchema } from './formats/native-schema.js';
export { type Manifests, manifests } from './manifests.js';
export type { ManifestOptions } from './options.js';
export type { ExtensionStatus, ManifestsStatus } from './status.js';
