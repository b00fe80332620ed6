import { OptionInvalidError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { invalidOption } from '../internal/options/validate.js';
import type { LoaderHost } from '../lifecycle/lifecycle.js';
import type { McpServers } from '../mcp/mcp.js';
import type { HookRegistry } from '../shell-hooks/hook/registry.js';
import type { Skills } from '../skills/registry.js';
import type { TrustGate } from '../trust/gate.js';
import { ManifestParts } from './active/parts.js';
import type { ExtensionPackage } from './extension.js';
import { ExtensionSet } from './extension-set.js';
import { type ManifestOptions, resolveManifestOptions } from './options.js';
import type { ManifestsStatus } from './status.js';

/** Extensions of one agent. Changes go one after another; only turning off does not wait. */
export class ManifestLoader {
  readonly name = 'manifests';
  private readonly parts: ManifestParts;
  private readonly set: ExtensionSet;
  private queue: Promise<unknown> = Promise.resolve();
  private isLoaded = false;

  constructor(options: ManifestOptions) {
    const settings = resolveManifestOptions(options);
    this.parts = new ManifestParts(settings);
    this.set = new ExtensionSet(settings, this.parts);
  }

  get gate(): TrustGate {
    return this.parts.gate;
  }

  get hooks(): HookRegistry {
    return this.parts.shell.registry;
  }

  get mcp(): McpServers {
    return this.parts.mcp;
  }

  get skills(): Skills {
    return this.parts.skills;
  }

  get config(): Readonly<Record<string, unknown>> {
    return this.set.config;
  }

  async load(host: LoaderHost): Promise<void> {
    if (this.isLoaded)
      throw new OptionInvalidError(
        'loaders',
        '`loaders` has the extensions of another agent; call `manifests` again for this one',
      );
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

  async close(): Promise<void> {
    this.set.close();
    await this.parts.close();
  }

  extensions(): readonly ExtensionPackage[] {
    return this.set.list();
  }

  isEnabled(name: string): boolean {
    return this.set.isEnabled(name);
  }

  enabledNames(): readonly string[] {
    const names = this.set.list().map(({ name }) => name);
    return names.filter((name) => this.set.isEnabled(name));
  }

  async enable(name: string): Promise<void> {
    const extension = this.set.require(name);
    await this.parts.choices.choose(extension, true);
    await this.enqueue(() => this.set.activate(extension.name));
  }

  async disable(name: string): Promise<void> {
    const extension = this.set.require(name);
    const stored = this.parts.choices.choose(extension, false);
    await Promise.all([stored, this.set.deactivate(extension)]);
  }

  async configure(config: Readonly<Record<string, unknown>>): Promise<void> {
    if (typeof config !== 'object' || config === null) throw invalidOption('config', 'an object', config);
    this.set.config = config;
    await this.enqueue(() => this.set.refresh());
  }

  async reload(): Promise<void> {
    await this.enqueue(() => this.set.read());
  }

  status(): ManifestsStatus {
    const { skills, pendingSkills, diagnostics } = this.parts;
    return this.redactValues({
      extensions: this.set.statuses(),
      skills: skills.list().map(({ id }) => id),
      pendingSkills,
      diagnostics: [...diagnostics],
    });
  }

  redact<T>(value: T): T {
    return this.parts.redactor.copy(value);
  }

  redactValues<T>(value: T): T {
    return this.parts.redactor.copyValues(value);
  }

  redactingLogger(logger: Logger): Logger {
    return this.parts.redactor.logger(() => logger);
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
}
