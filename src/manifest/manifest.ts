export type { ManifestDiagnostic } from '../internal/problem.js';
export { ExtensionPackageStateError, ExtensionPackageUnknownError } from './error.js';
export type { ExtensionPackage, ManifestContent, ManifestFormat, SettingDefinition } from './extension.js';
export type { ReadManifest } from './formats/format.js';
export { parseManifest } from './formats/native.js';
export { manifestJsonSchema } from './formats/native-schema.js';
export { type Manifests, manifests } from './loader.js';
export type { ManifestOptions } from './options.js';
export type { ExtensionPackageStatus, ManifestsReload, ManifestsStatus } from './status.js';
