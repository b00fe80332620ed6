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
import { Revocations } from './active/revocations.js';
import type { ExtensionPackage } from './extension.js';
import { ExtensionSet } from './extension-set.js';
import { type ManifestOptions, resolveManifestOptions } from './options.js';
import type { ManifestsReload, ManifestsStatus } from './status.js';

/** Loads extension packages into one agent. Changes run one after another; only `disable` takes effect at once. */
export class Manifests implements LifecycleLoader {
  readonly name = 'manifests';
  readonly gate: TrustGate;
  /** The registry of the extension packages' hooks. */
  readonly hooks: HookRegistry;
  /** The MCP servers of extension packages. Each server has a unique name. */
  readonly mcp: McpServers;
  readonly skills: Skills;
  private readonly parts: ManifestParts;
  private readonly set: ExtensionSet;
  private readonly revocations: Revocations;
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
    this.revocations = new Revocations(parts.gate.store, settings.workspaceDir);
  }

  /**
   * The host configuration with the value of each setting at `extensions.<name>.<setting>`, including sensitive values.
   * Invalid values and values that are not approved are left out.
   */
  get config(): Readonly<Record<string, unknown>> {
    return this.set.config;
  }

  /** Loads the extension packages into the agent. Called by the agent. */
  async load(host: LoaderHost): Promise<void> {
    if (this.isLoaded) {
      const message =
        '`loaders` must have the `manifests` of one agent, got those of another: call `manifests` once for each agent';
      throw new OptionInvalidError('loaders', message);
    }
    this.isLoaded = true;
    try {
      host.use({
        name: 'extension-approvals',
        // Removes parts whose approval was revoked, by this process or another one, before a run begins.
        beforeAgent: async () => {
          if (await this.revocations.areNew()) await this.reload();
        },
      });
      await this.parts.load(host);
      await this.reload();
    } catch (error) {
      // The agent does not close a loader whose `load` failed.
      await this.close();
      throw error;
    }
  }

  /** Closes the extension packages and their servers. Called by the agent. */
  async close(): Promise<void> {
    this.set.close();
    await this.parts.close();
  }

  /**
   * Returns the extension packages with a valid manifest, enabled or not, in the order of loading. Values of sensitive
   * settings are redacted.
   */
  extensions(): readonly ExtensionPackage[] {
    return this.redact(this.set.found);
  }

  /** True if the extension package is enabled and has all required settings. */
  isEnabled(name: string): boolean {
    return this.set.isEnabled(name);
  }

  /** Returns the names of the extension packages that are enabled and have all required settings. */
  enabledNames(): readonly string[] {
    return this.set.found.map(({ name }) => name).filter((name) => this.set.isEnabled(name));
  }

  /**
   * Enables an extension package, for later processes too. Resolves when its hooks are registered and each of its
   * servers is connected or has failed. Rejects with an ExtensionPackageUnknownError if the name is unknown, and with
   * an ExtensionPackageStateError if the choice cannot be stored.
   */
  async enable(name: string): Promise<void> {
    const extension = this.set.require(name);
    await this.parts.choices.choose(extension, true);
    await this.enqueue(() => this.set.activate(extension.name));
  }

  /**
   * Disables an extension package, for later processes too. Its hooks, tools and skills are removed before this method
   * returns. The promise resolves when its servers have ended and the choice is stored. If the choice cannot be stored,
   * the promise rejects after the servers have ended. The extension package then stays disabled in this process alone.
   */
  async disable(name: string): Promise<void> {
    const extension = this.set.require(name);
    const stored = this.parts.choices.choose(extension, false);
    const removed = this.set.deactivate(extension);
    await Promise.allSettled([stored, removed]);
    await Promise.all([stored, removed]);
  }

  /** Replaces the host configuration and checks the required settings again. Reads no manifest. */
  async configure(config: Readonly<Record<string, unknown>>): Promise<void> {
    validateOption('config', config, required(object));
    this.set.config = config;
    await this.enqueue(() => this.set.refresh());
  }

  /**
   * Reads all extension packages and skills again, requests approval of changed items, and returns the changes. Changes
   * on disk have no effect before a reload. Unchanged hooks and servers stay. Open calls of a removed server get their
   * results before the server ends.
   */
  reload(): Promise<ManifestsReload> {
    return this.enqueue(() => this.set.read());
  }

  /** Returns the current state. It starts no process, opens no connection and prompts nobody. */
  status(): ManifestsStatus {
    const { skills, standalone, diagnostics } = this.parts;
    return this.redact({
      extensions: this.set.statuses(),
      skills: skills.list().map(({ id }) => id),
      pendingSkills: standalone.denied,
      diagnostics: diagnostics.list(),
    });
  }

  /** Returns a copy without the values of sensitive settings, for the host's own logs and output. */
  redact<T>(value: T): T {
    return this.parts.redactor.copy(value);
  }

  /** Returns a logger that redacts sensitive settings and writes to `logger`. */
  redactingLogger(logger: Logger): Logger {
    return this.parts.redactor.logger(() => logger);
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    return this.revocations.during(work).finally(() => this.parts.diagnostics.flush());
  }
}

/**
 * Loads the extension packages of the user and of the workspace: directories with a `manifest.json` that defines hooks,
 * MCP servers, settings and skills. A workspace extension needs the user's approval of its current content. Before
 * that, its programs do not run, its servers do not connect, its settings are not read, and none of its texts reaches
 * the model.
 *
 * @example
 * const extensions = manifests({ appName: 'my-agent', workspaceDir: process.cwd(), approve: terminalApprover() });
 * const agent = new Agent({ model, loaders: [extensions] });
 */
export function manifests(options: ManifestOptions): Manifests {
  return new Manifests(options);
}
