import type { JsonValue } from '../../internal/json.js';
import type { McpServerOrigin } from '../../mcp/config/definition.js';
import { readServer } from '../../mcp/config/server-map.js';
import { trustItemOf as serverItem } from '../../mcp/config/trust-item.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import { numberedHooks, type PresentHooks } from '../../shell-hooks/hook/ordinals.js';
import { resolveHook } from '../../shell-hooks/hook/resolve-hook.js';
import { trustItemOf } from '../../shell-hooks/hook/trust-item.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage, ExtensionPackageScope, ManifestContent } from '../extension.js';
import { serverId } from './server-id.js';

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

/** Returns one trust item for all texts that an extension package adds to prompts, and the tools that it hides. */
export function promptItem({ extension, scope }: JudgedExtension): RootedItem {
  const { skills, skillFolders, commandPaths, contextFiles, excludedTools } = extension;
  const details = { skills: plainJson(skills), skillFolders, commandPaths, contextFiles };
  return {
    ...base(extension, scope),
    kind: 'skill',
    details: { ...details, ...(excludedTools.length > 0 && { excludedTools }) },
  };
}

/**
 * Returns the trust items that the gate checks again when the hooks run. The hooks must be valid. `present` contains the
 * registered hooks of the extension package before the change.
 */
export function hookItems(
  registrations: readonly HookRegistration[],
  present: PresentHooks,
  workspaceDir: string,
): readonly TrustItem[] {
  const hooks = registrations.map((registration) => resolveHook(registration, 'unregistered'));
  return numberedHooks(hooks, present).map((hook) => trustItemOf(hook, workspaceDir));
}

/** Returns the trust items that the gate checks again when the servers connect. */
export function serverItems(
  servers: ManifestContent['mcpServers'],
  origin: McpServerOrigin & { readonly extension: string },
): readonly TrustItem[] {
  return Object.entries(servers).flatMap(([name, config]) => {
    const entry = readServer(serverId(origin.extension, name), config, origin);
    return 'definition' in entry && !entry.definition.disabled ? [serverItem(entry.definition)] : [];
  });
}

/** Returns the trust item for the whole extension package. Its parts have items of their own. */
export function packageItem({ extension, scope }: JudgedExtension): RootedItem {
  const { version, description } = extension;
  return { ...base(extension, scope), kind: 'extension', details: { version, description } };
}

function base({ name, source, root }: ExtensionPackage, scope: ExtensionPackageScope) {
  return { scope, name, extension: name, source, root } as const;
}

function plainJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
