import type { Changes } from '../internal/changes.js';
import type { ManifestDiagnostic } from '../internal/problem.js';
import type { ExtensionPackageServer } from './active/installed-servers.js';
import type { ExtensionPackageScope, ManifestFormat } from './extension.js';

/** An extension as it stands. */
export interface ExtensionPackageStatus {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly scope: ExtensionPackageScope;
  readonly format: ManifestFormat;
  readonly root: string;
  /** Whether it is on, and has the settings that it needs. */
  readonly enabled: boolean;
  /** `disabled`: it is off. `blocked`: a required setting is missing. `pending`: some of it is not approved. */
  readonly state: 'active' | 'pending' | 'blocked' | 'disabled';
  /** Whether all of it may be used. Of one that is off or blocked nobody knows. */
  readonly approved: boolean;
  /** Why it is not active, or not all of it. */
  readonly reasons: readonly string[];
  readonly hooks: readonly { readonly event: string; readonly name: string; readonly command: string }[];
  readonly servers: readonly ExtensionPackageServer[];
  /** The settings, and whether each has a value. */
  readonly settings: readonly {
    readonly name: string;
    readonly isSet: boolean;
    readonly envVar?: string | undefined;
  }[];
  /** The ids of its skills that can be used now. */
  readonly skills: readonly string[];
}

/** What `status()` shows. */
export interface ManifestsStatus {
  readonly extensions: readonly ExtensionPackageStatus[];
  /** The ids of all skills that can be used now. */
  readonly skills: readonly string[];
  /** Folders of skills that are not approved. */
  readonly pendingSkills: readonly string[];
  /** What was said since the last reload. */
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** What a reload changed, by names. Servers have the names that they go by. */
export interface ManifestsReload {
  readonly extensions: Changes;
  readonly hooks: Changes;
  readonly servers: Changes;
}
