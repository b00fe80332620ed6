import type { Logger } from '../internal/logger.js';
import type { LifecycleLoader } from '../lifecycle/lifecycle.js';
import type { McpServers } from '../mcp/mcp.js';
import type { HookRegistry } from '../shell-hooks/hook/registry.js';
import type { Skills } from '../skills/registry.js';
import type { TrustGate } from '../trust/gate.js';
import type { ExtensionPackage } from './extension.js';
import { ManifestLoader } from './loader.js';
import type { ManifestOptions } from './options.js';
import type { ManifestsStatus } from './status.js';

/** Extension packages as parts of an agent. It serves one agent. */
export interface Manifests extends LifecycleLoader {
  readonly gate: TrustGate;
  /** Where the hooks of extensions are registered. */
  readonly hooks: HookRegistry;
  /** The servers of extensions, under names of their own. */
  readonly mcp: McpServers;
  readonly skills: Skills;
  /**
   * The host's configuration with the value of each setting at `extensions.<name>.<setting>`, sensitive ones included;
   * what is wrong, or not approved, is not in it.
   */
  readonly config: Readonly<Record<string, unknown>>;
  /** The extensions with a valid manifest, on or off, in the order of loading. */
  extensions(): readonly ExtensionPackage[];
  /** The names of those that are on and have the settings that they need. */
  enabledNames(): readonly string[];
  /** Whether an extension is on and has the settings that it needs. False where there is none of that name. */
  isEnabled(name: string): boolean;
  /**
   * Turns an extension on, for later processes too. Resolves when its hooks are registered and its servers are connected
   * or have failed. Rejects with an ExtensionPackageUnknownError, or an ExtensionPackageStateError where the choice cannot be stored.
   */
  enable(name: string): Promise<void>;
  /**
   * Turns an extension off, for later processes too. As it returns none of its hooks starts again, and its tools and
   * skills are gone; it resolves when its servers have ended and the choice is stored. A throw of the store does not
   * turn it on again.
   */
  disable(name: string): Promise<void>;
  /** Takes other configuration of the host's, and looks again at which settings are missing. Reads no manifest. */
  configure(config: Readonly<Record<string, unknown>>): Promise<void>;
  /** Reads everything anew, and asks about what has changed. What changed on disk has no effect before that. */
  reload(): Promise<void>;
  /** Starts nothing, contacts nobody and asks nobody. */
  status(): ManifestsStatus;
  /** A copy of a value without the sensitive settings, by value and by key, for what the host logs or shows itself. */
  redact<T>(value: T): T;
  /** As `redact`, by value alone: what has the name of a setting may be something else. */
  redactValues<T>(value: T): T;
  /** A logger that tells another nothing sensitive. */
  redactingLogger(logger: Logger): Logger;
}

/**
 * Loads the extensions of the user and of the workspace: folders with a `manifest.json` that brings hooks, MCP servers,
 * settings and skills. Nothing of a workspace's extension runs, connects, is read from the environment or reaches the
 * model before the user has approved it, as it is.
 *
 * @example
 * const extensions = manifests({ appName: 'my-agent', workspaceDir: process.cwd(), approve: terminalApprover() });
 * const agent = new Agent({ model, loaders: [extensions] });
 */
export function manifests(options: ManifestOptions): Manifests {
  return new ManifestLoader(options);
}
