import type { Changes } from '../internal/changes.js';
import type { ManifestDiagnostic } from '../internal/problem.js';
import type { ExtensionPackageServer } from './active/installed-servers.js';
import type { ExtensionPackageScope, ManifestFormat } from './extension.js';

/** The current state of an extension package. */
export interface ExtensionPackageStatus {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly scope: ExtensionPackageScope;
  readonly format: ManifestFormat;
  readonly root: string;
  /** True if the extension package is enabled and has all required settings. */
  readonly enabled: boolean;
  /**
   * `disabled`: disabled by choice. `blocked`: a required setting is missing, or a hook with
   * `onFailure: 'block'` is invalid. `pending`: a part is not approved.
   */
  readonly state: 'active' | 'pending' | 'blocked' | 'disabled';
  /** True if every part is approved. False if disabled or blocked. */
  readonly approved: boolean;
  /** Reasons why the extension package, or a part of it, is inactive. */
  readonly reasons: readonly string[];
  /** The registered hooks. */
  readonly hooks: readonly { readonly event: string; readonly name: string; readonly command: string }[];
  readonly servers: readonly ExtensionPackageServer[];
  /** Settings of the extension package. `isSet` is true if the setting has a value. */
  readonly settings: readonly {
    readonly name: string;
    readonly isSet: boolean;
    readonly envVar?: string | undefined;
  }[];
  /** Ids of its skills that are usable now. */
  readonly skills: readonly string[];
}

/** The return value of `Manifests.status()`. */
export interface ManifestsStatus {
  readonly extensions: readonly ExtensionPackageStatus[];
  /** Ids of all skills that are usable now. */
  readonly skills: readonly string[];
  /** Skill directories that are not approved. */
  readonly pendingSkills: readonly string[];
  /** Diagnostics since the last reload. */
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** The changes of a reload, by name. Servers have the name that the agent uses for each. */
export interface ManifestsReload {
  readonly extensions: Changes;
  readonly hooks: Changes;
  readonly servers: Changes;
}
