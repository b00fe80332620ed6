export type { TrustGateOptions } from '../trust/gate-options.js';
export { type TerminalApproverOptions, terminalApprover } from '../trust/terminal-approver.js';
export type { ApprovalRequest, Approver } from '../trust/trust-decision.js';
export { createTrustGate, type TrustGate } from '../trust/trust-gate.js';
export type {
  Extension,
  ExtensionScope,
  ManifestContent,
  ManifestFormat,
  ManifestHook,
  ManifestSkill,
  SettingDefinition,
  SettingValue,
  SkillParameter,
} from './extension.js';
export type { ExtensionServer } from './installed-servers.js';
export {
  ExtensionStateError,
  ExtensionUnknownError,
  SkillParametersError,
  SkillUnavailableError,
  SkillUnknownError,
} from './manifest-error.js';
export type { ManifestOptions } from './manifest-options.js';
export type { ManifestDiagnostic, ManifestProblem } from './manifest-problem.js';
export { manifestJsonSchema } from './manifest-schema.js';
export type { ExtensionStatus, ManifestsStatus } from './manifest-status.js';
export { type Manifests, manifests } from './manifests.js';
export type { ReadManifest } from './native-manifest.js';
export { parseManifest } from './parse-manifest.js';
export type { Skill } from './skill.js';
export type { SkillArguments } from './skill-prompt.js';
export type { Skills } from './skill-registry.js';
