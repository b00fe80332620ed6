import type { Changes } from '../internal/changes.js';
import type { ManifestDiagnostic } from '../internal/problem.js';
import { type ExtensionPackageServer, takenText } from './active/installed-servers.js';
import type { PreparedExtension } from './active/preparation.js';
import type { EnableChoices } from './enable-choices.js';
import type { ExtensionPackage, ExtensionPackageScope, ManifestFormat } from './extension.js';

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
  /** Ids of the package's skills that can be used now. */
  readonly skills: readonly string[];
}

/** The return value of `Manifests.status()`. */
export interface ManifestsStatus {
  readonly extensions: readonly ExtensionPackageStatus[];
  /** Ids of all skills that can be used now. */
  readonly skills: readonly string[];
  /** Skill directories that are not approved. */
  readonly pendingSkills: readonly string[];
  /** Diagnostics since the last reload. */
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** The changes of a reload, by name. A server is listed under the name that the agent uses for the server. */
export interface ManifestsReload {
  readonly extensions: Changes;
  readonly hooks: Changes;
  readonly servers: Changes;
}

interface ExtensionFacts {
  readonly choices: EnableChoices;
  /** Undefined if the extension package is disabled. */
  readonly prepared: PreparedExtension | undefined;
  readonly servers: readonly ExtensionPackageServer[];
}

/** Returns the status of an extension package for `status()`. */
export function extensionStatus(
  extension: ExtensionPackage,
  { choices, prepared, servers }: ExtensionFacts,
): ExtensionPackageStatus {
  const { name, version, description, scope, format, root } = extension;
  const isWanted = choices.isWanted(extension);
  const blocked = prepared?.blocked;
  const denied = [...(prepared?.denied ?? []), ...servers.flatMap(waiting)];
  const isActive = isWanted && prepared !== undefined && blocked === undefined;
  return {
    name,
    version,
    description,
    scope,
    format,
    root,
    servers,
    enabled: isWanted && blocked === undefined,
    state: stateOf({ isWanted, isActive, isPending: denied.length > 0 }),
    approved: isActive && denied.length === 0,
    reasons: isWanted
      ? [...(blocked === undefined ? [] : [blocked]), ...denied, ...servers.flatMap(leftOut)]
      : [choices.isLost ? 'It is disabled: earlier choices were lost with a damaged file' : 'It is disabled'],
    hooks: isActive ? prepared.hooks.map(({ event, name: hook, command }) => ({ event, name: hook, command })) : [],
    settings: extension.settings.map((setting) => ({
      name: setting.name,
      isSet: prepared?.settings.values.has(setting.name) ?? false,
      envVar: setting.envVar,
    })),
    skills: isActive ? prepared.texts.skills.map(({ skill }) => skill.id) : [],
  };
}

function stateOf({ isWanted, isActive, isPending }: Record<string, boolean>): ExtensionPackageStatus['state'] {
  if (!isWanted) return 'disabled';
  if (!isActive) return 'blocked';
  return isPending ? 'pending' : 'active';
}

function waiting({ name, state }: ExtensionPackageServer): string[] {
  return state === 'pending' || state === 'denied' ? [`The server "${name}" is not approved`] : [];
}

function leftOut({ name, id, state }: ExtensionPackageServer): string[] {
  return state === 'left-out' ? [`The server "${name}" is left out: ${takenText(id)}`] : [];
}
