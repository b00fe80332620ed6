import { OptionInvalidError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { object, required } from '../internal/options/rules.js';
import { validateOption } from '../internal/options/validate.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { McpServers } from '../mcp/mcp.js';
import type { HookRegistry } from '../shell-hooks/hook/registry.js';
import type { Skills } from '../skills/registry.js';
import type { TrustGate } from '../trust/gate.js';
import { ManifestParts } from './active/parts.js';
import type { ExtensionPackage } from './extension.js';
import { ExtensionSet } from './extension-set.js';
import { type ManifestOptions, resolveManifestOptions } from './options.js';
import type { ManifestsReload, ManifestsStatus } from './status.js';

/** Extension packages as parts of an agent. It serves one agent. Changes go one after another; only turning off does not wait. */
export class Manifests implements LifecycleLoader {
  readonly name = 'manifests';
  readonly gate: TrustGate;
  /** The registry that receives the hooks of extensions. */
  readonly hooks: HookRegistry;
  /** The servers of extensions, under names of their own. */
  readonly mcp: McpServers;
  readonly skills: Skills;
  private readonly parts: ManifestParts;
  private readonly set: ExtensionSet;
  private queue: Promise<unknown> = Promise.resolve();
  private isLoaded = false;

  constructor(options: ManifestOptions) {
    const settings = resolveManifestOptions(options);
    const parts = new ManifestParts(settings);
    this.gate = parts.gate;
    this.hooks = parts.shell.registry;
    this.mcp = parts.mcp;
    this.skills = parts.skills;
    this.parts = parts;
    this.set = new ExtensionSet(settings, parts);
  }

  /**
   * The host's configuration with the value of each setting at `extensions.<name>.<setting>`, sensitive ones included;
   * what is wrong, or not approved, is not in it.
   */
  get config(): Readonly<Record<string, unknown>> {
    return this.set.config;
  }

  /** Called by the agent. */
  async load(host: LoaderHost): Promise<void> {
    if (this.isLoaded) {
      const message =
        '`loaders` must have extensions of one agent, got those of another: call `manifests` for each agent';
      throw new OptionInvalidError('loaders', message);
    }
    this.isLoaded = true;
    try {
      await this.parts.load(host);
      await this.reload();
    } catch (error) {
      // A loader that failed is not closed by anybody else.
      await this.close();
      throw error;
    }
  }

  /** Called by the agent. */
  async close(): Promise<void> {
    this.set.close();
    await this.parts.close();
  }

  /** The extensions with a valid manifest, on or off, in the order of loading. */
  extensions(): readonly ExtensionPackage[] {
    return this.set.found;
  }

  /** True if an extension of this name is on and has the settings that it needs. */
  isEnabled(name: string): boolean {
    return this.set.isEnabled(name);
  }

  /** The names of those that are on and have the settings that they need. */
  enabledNames(): readonly string[] {
    return this.set.found.map(({ name }) => name).filter((name) => this.set.isEnabled(name));
  }

  /**
   * Turns an extension on, for later processes too. Resolves when its hooks are registered and its servers are connected
   * or have failed. Rejects with an ExtensionPackageUnknownError, or an ExtensionPackageStateError if the choice cannot be
   * stored.
   */
  async enable(name: string): Promise<void> {
    const extension = this.set.require(name);
    await this.parts.choices.choose(extension, true);
    await this.enqueue(() => this.set.activate(extension.name));
  }

  /**
   * Turns an extension off, for later processes too. As it returns none of its hooks starts again, and its tools and
   * skills are gone; it resolves when its servers have ended and the choice is stored. If storing it fails, the extension
   * stays off.
   */
  async disable(name: string): Promise<void> {
    const extension = this.set.require(name);
    const stored = this.parts.choices.choose(extension, false);
    await Promise.all([stored, this.set.deactivate(extension)]);
  }

  /** Takes other configuration of the host's, and looks again at which settings are missing. Reads no manifest. */
  async configure(config: Readonly<Record<string, unknown>>): Promise<void> {
    validateOption('config', config, required(object));
    this.set.config = config;
    await this.enqueue(() => this.set.refresh());
  }

  /**
   * Reads everything anew, asks about what has changed, and returns the changes. What changed on disk has no effect before
   * that. Hooks and servers that have not changed stay, and the calls of a server that ends get their results first.
   */
  reload(): Promise<ManifestsReload> {
    return this.enqueue(() => this.set.read());
  }

  /** Starts nothing, contacts nobody and asks nobody. */
  status(): ManifestsStatus {
    const { skills, standalone, diagnostics } = this.parts;
    return this.redactValues({
      extensions: this.set.statuses(),
      skills: skills.list().map(({ id }) => id),
      pendingSkills: standalone.denied,
      diagnostics: [...diagnostics],
    });
  }

  /** A copy of a value without the sensitive settings, by value and by key, for what the host logs or shows itself. */
  redact<T>(value: T): T {
    return this.parts.redactor.copy(value);
  }

  /** As `redact`, by value alone: what has the name of a setting may be something else. */
  redactValues<T>(value: T): T {
    return this.parts.redactor.copyValues(value);
  }

  /** A logger that tells another nothing sensitive. */
  redactingLogger(logger: Logger): Logger {
    return this.parts.redactor.logger(() => logger);
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
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
  return new Manifests(options);
}
