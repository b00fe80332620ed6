import type { JsonValue } from '../../internal/json.js';
import type { McpServerOrigin } from '../../mcp/config/definition.js';
import { readServer } from '../../mcp/config/server-map.js';
import { trustItemOf as serverItem } from '../../mcp/config/trust-item.js';
import { known } from '../../programs/cell.js';
import { programOf } from '../../programs/list.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import { numberedHooks, type PresentHooks } from '../../shell-hooks/hook/identity.js';
import { resolveHook } from '../../shell-hooks/hook/resolve-hook.js';
import { trustItemOf } from '../../shell-hooks/run/approval.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage, ExtensionPackageScope } from '../extension.js';
import { formatOf } from '../formats/list.js';

/**
 * An extension package. `scope` is `workspace` if its parts need an approval. This includes a package of the user that
 * `mustApprove` selects.
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
  return {
    ...base(extension, scope),
    kind: 'skill',
    details: {
      skills: plainJson(skills),
      skillFolders,
      commandPaths,
      contextFiles,
      excludedTools: excludedTools.length > 0 ? excludedTools : undefined,
    },
  };
}

/**
 * Returns the trust items of hooks, which must be valid. The gate checks the same items again when the hooks run.
 * `present` contains the hooks of the extension package that are registered now.
 */
export function hookItems(
  registrations: readonly HookRegistration[],
  present: PresentHooks,
  workspaceDir: string,
): readonly TrustItem[] {
  const hooks = registrations.map((registration) => resolveHook(registration, 'unregistered'));
  return numberedHooks(hooks, present).map((hook) => trustItemOf(hook, workspaceDir));
}

/**
 * Returns the trust items of the servers that are not disabled. The gate checks the same items again when the servers
 * connect.
 */
export function serverItems(judged: JudgedExtension, workspaceDir: string): readonly TrustItem[] {
  const { name: extension, mcpServers } = judged.extension;
  const origin = originOf(judged, workspaceDir);
  return Object.entries(mcpServers).flatMap(([name, config]) => {
    const entry = readServer(serverId(extension, name), config, origin);
    return 'definition' in entry && !entry.definition.disabled ? [serverItem(entry.definition)] : [];
  });
}

/**
 * Returns where the servers of an extension package come from. The trust gate and the precedence of servers depend on
 * it. The settings of the package are not included.
 */
export function originOf({ extension, scope }: JudgedExtension, workspaceDir: string): McpServerOrigin {
  const { name, source, root, format } = extension;
  const { argsRequired } = formatOf(format);
  const urlMeans = known(programOf(format)?.servers?.urlMeans, 'http');
  // The host may treat a package of the user as one of the workspace. The servers of such a package keep the precedence
  // of the user.
  const precedence = extension.scope;
  return { scope, precedence, source, root, program: format, extension: name, workspaceDir, argsRequired, urlMeans };
}

/**
 * Returns the name that the agent uses for a server. The name depends only on the manifest, so that it stays the same
 * if other servers are added.
 */
export function serverId(extension: string, server: string): string {
  return extension === server ? server : `${extension}-${server}`;
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
