import type { JsonValue } from '../../internal/json.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import { resolveHook } from '../../shell-hooks/hook/resolve-hook.js';
import { trustItemOf } from '../../shell-hooks/hook/trust-item.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage, ExtensionPackageScope } from '../extension.js';

/**
 * An extension package with the scope that the gate applies. A package in the user's directory may be treated as one of
 * the workspace.
 */
export interface JudgedExtension {
  readonly extension: ExtensionPackage;
  readonly scope: ExtensionPackageScope;
}

type RootedItem = TrustItem & { readonly root: string };

/**
 * Returns the trust item for the settings of an extension package, with the environment variables that they read.
 * Undefined if there are no settings.
 */
export function settingsItem({ extension, scope }: JudgedExtension): TrustItem | undefined {
  const { settings } = extension;
  if (settings.length === 0) return undefined;
  const reads = settings.flatMap(({ envVar }) => (envVar === undefined ? [] : [envVar]));
  return { ...base(extension, scope), kind: 'settings', reads, details: { settings: plainJson(settings) } };
}

/** Returns one trust item for all texts that an extension package adds to prompts. */
export function promptItem({ extension, scope }: JudgedExtension): RootedItem {
  const { skills, skillFolders, commandPaths, contextFiles } = extension;
  return {
    ...base(extension, scope),
    kind: 'skill',
    details: { skills: plainJson(skills), skillFolders, commandPaths, contextFiles },
  };
}

/** Returns the trust item that the gate checks again when the hook runs. */
export function hookItem(registration: HookRegistration, workspaceDir: string): TrustItem {
  return trustItemOf(resolveHook(registration, 'unregistered'), workspaceDir);
}

function base({ name, source, root }: ExtensionPackage, scope: ExtensionPackageScope) {
  return { scope, name, extension: name, source, root } as const;
}

function plainJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
