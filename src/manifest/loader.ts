import { OptionInvalidError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { invalidOption } from '../internal/options/validate.js';
import type { LoaderHost } from '../lifecycle/lifecycle.js';
import type { McpServers } from '../mcp/mcp.js';
import type { HookRegistry } from '../shell-hooks/hook/registry.js';
import type { Skills } from '../skills/registry.js';
import { loadStandaloneSkills } from '../skills/standalone.js';
import type { TrustGate } from '../trust/gate.js';
import { ManifestParts } from './active/parts.js';
import { type PreparedExtension, prepareExtension } from './active/preparation.js';
import { discoverExtensions } from './discovery.js';
import { ExtensionUnknownError } from './error.js';
import type { Extension } from './extension.js';
import { extensionStatus } from './extension-status.js';
import { type ManifestOptions, type ManifestSettings, resolveManifestOptions } from './options.js';
import { mergeConfiguration, type ResolvedSettings } from './settings/settings.js';
import type { ManifestsStatus } from './status.js';

/** Extensions of one agent. Changes go one after another; only turning off does not wait. */
export class ManifestLoader {
  readonly name = 'manifests';
  private readonly settings: ManifestSettings;
  private readonly parts: ManifestParts;
  private found: readonly Extension[] = [];
  /** What is known of each extension that is on, by its name; blocked ones too. */
  private readonly prepared = new Map<string, PreparedExtension>();
  private hostConfig: Readonly<Record<string, unknown>>;
  private queue: Promise<unknown> = Promise.resolve();
  private isLoaded = false;
  private isClosed = false;

  constructor(options: ManifestOptions) {
    this.settings = resolveManifestOptions(options);
    this.parts = new ManifestParts(this.settings);
    this.hostConfig = options.config ?? {};
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
    const resolved = [...this.prepared].map(([name, { settings }]) => [name, settings] as const);
    return mergeConfiguration(this.hostConfig, new Map<string, ResolvedSettings>(resolved));
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
    this.isClosed = true;
    await this.parts.close();
  }

  extensions(): readonly Extension[] {
    return this.found;
  }

  isEnabled(name: string): boolean {
    const extension = this.find(name);
    return (
      extension !== undefined &&
      this.parts.isWanted(extension) &&
      this.prepared.get(extension.name)?.blocked === undefined
    );
  }

  enabledNames(): readonly string[] {
    return this.found.map(({ name }) => name).filter((name) => this.isEnabled(name));
  }

  async enable(name: string): Promise<void> {
    const extension = this.require(name);
    await this.parts.choose(extension, true);
    await this.enqueue(() => this.activate(extension.name));
  }

  async disable(name: string): Promise<void> {
    const extension = this.require(name);
    const stored = this.parts.choose(extension, false);
    const closed = this.parts.active.remove(extension.name);
    this.prepared.delete(extension.name);
    this.publish();
    await Promise.all([stored, closed]);
  }

  async configure(config: Readonly<Record<string, unknown>>): Promise<void> {
    if (typeof config !== 'object' || config === null) throw invalidOption('config', 'an object', config);
    this.hostConfig = config;
    await this.enqueue(async () => this.install(await this.prepareAll(this.found), this.found));
  }

  async reload(): Promise<void> {
    await this.enqueue(() => this.readAll());
  }

  status(): ManifestsStatus {
    const { active, skills, pendingSkills, diagnostics } = this.parts;
    const servers = active.servers.list();
    const extensions = this.found.map((extension) =>
      extensionStatus(extension, {
        isWanted: this.parts.isWanted(extension),
        isLost: this.parts.state.isLost,
        prepared: this.prepared.get(extension.name),
        servers: servers.get(extension.name) ?? [],
      }),
    );
    return this.redactValues({
      extensions,
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
    return this.parts.redactor.logger(logger);
  }

  private async readAll(): Promise<void> {
    const { parts, settings } = this;
    parts.diagnostics.length = 0;
    const damage = await parts.readChoices();
    if (damage !== undefined) parts.report(stateDamaged(parts.state.path, damage));
    const { extensions, diagnostics } = await discoverExtensions({
      ...{ compat: settings.compat, workspaceDir: settings.workspaceDir, roots: settings.extensionRoots },
      followLinks: settings.followLinks === true,
    });
    diagnostics.forEach(parts.report);
    const prepared = await this.prepareAll(extensions);
    const { workspaceDir, skillRoots: roots } = settings;
    parts.standalone = await loadStandaloneSkills({ gate: parts.gate, workspaceDir, roots });
    parts.standalone.diagnostics.forEach(parts.report);
    await this.install(prepared, extensions);
  }

  private async prepareAll(extensions: readonly Extension[]): Promise<readonly PreparedExtension[]> {
    const prepared: PreparedExtension[] = [];
    for (const extension of extensions) {
      if (this.parts.isWanted(extension)) prepared.push(await this.prepare(extension));
    }
    return prepared;
  }

  /** What was turned off while somebody was asked stays off. */
  private async install(prepared: readonly PreparedExtension[], found: readonly Extension[]): Promise<void> {
    if (this.isClosed) return;
    const wanted = prepared.filter(({ extension }) => this.parts.isWanted(extension));
    this.found = found;
    this.prepared.clear();
    for (const one of wanted) this.prepared.set(one.extension.name, one);
    const installed = this.parts.active.replace(wanted.filter(({ blocked }) => blocked === undefined));
    this.publish();
    await installed;
  }

  private async activate(name: string): Promise<void> {
    const extension = this.find(name);
    if (extension === undefined) return;
    const isOn = () => !this.isClosed && this.found.includes(extension) && this.parts.isWanted(extension);
    if (!isOn() || this.parts.active.has(extension.name)) return;
    const prepared = await this.prepare(extension);
    if (!isOn()) return;
    this.prepared.set(extension.name, prepared);
    const installed = prepared.blocked === undefined ? this.parts.active.add(prepared) : undefined;
    this.publish();
    await installed;
  }

  private async prepare(extension: Extension): Promise<PreparedExtension> {
    const { gate, redactor } = this.parts;
    const prepared = await prepareExtension(extension, {
      ...{ settings: this.settings, gate, redactor, config: this.hostConfig },
      variablesOf: (name) => this.prepared.get(name)?.settings.variables ?? {},
    });
    prepared.diagnostics.forEach(this.parts.report);
    return prepared;
  }

  private publish(): void {
    this.parts.publish();
  }

  private find(name: string): Extension | undefined {
    return this.found.find((extension) => extension.name.toLowerCase() === String(name).toLowerCase());
  }

  private require(name: string): Extension {
    const found = this.find(name);
    if (found) return found;
    throw new ExtensionUnknownError(
      name,
      this.found.map((extension) => extension.name),
    );
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
}

function stateDamaged(source: string, problem: string) {
  const message = `${problem}: extensions stay off until they are turned on again.`;
  return { level: 'error', message, source, problems: [{ path: '', message: problem }] } as const;
}
