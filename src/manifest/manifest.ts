export type { Changes } from '../internal/changes.js';
export type { ManifestDiagnostic, ManifestProblem } from '../internal/problem.js';
export type { SettingValue } from '../skills/skill.js';
export type { ExtensionPackageServer } from './active/installed-servers.js';
export { ExtensionPackageStateError, ExtensionPackageUnknownError } from './error.js';
export type {
  ExtensionPackage,
  ExtensionPackageScope,
  ManifestContent,
  ManifestFormat,
  ManifestHook,
  ManifestSkill,
  SettingDefinition,
} from './extension.js';
export type { ReadManifest } from './formats/format.js';
export { parseManifest } from './formats/native.js';
export { manifestJsonSchema } from './formats/native-schema.js';
export { type Manifests, manifests } from './loader.js';
export type { ManifestOptions } from './options.js';
export type { ExtensionPackageStatus, ManifestsReload, ManifestsStatus } from './status.js';
