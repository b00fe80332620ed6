import { type Changes, type ComparedItem, changesBetween } from '../internal/changes.js';
import type { ShellHook } from '../shell-hooks/hook/definition.js';
import { comparedHook, type PresentHooks } from '../shell-hooks/hook/identity.js';
import { loadSkills } from '../skills/load-skills.js';
import type { ManifestParts } from './active/parts.js';
import { type PreparedExtension, prepareExtension } from './active/preparation.js';
import { discoverExtensions } from './discovery.js';
import { ExtensionPackageUnknownError } from './error.js';
import type { ExtensionPackage } from './extension.js';
import type { ManifestSettings } from './options.js';
import { mergeConfiguration } from './settings/settings.js';
import { type ExtensionPackageStatus, extensionStatus, type ManifestsReload } from './status.js';

const NO_CHANGES: Changes = { added: [], removed: [], changed: [], unchanged: [] };

type InstalledChanges = Pick<ManifestsReload, 'hooks' | 'servers'>;

/** All found extension packages, and those whose parts are ready to be activated. */
export class ExtensionSet {
  found: readonly ExtensionPackage[] = [];
  /** Prepared extension packages by name, including blocked ones. */
  private readonly prepared = new Map<string, PreparedExtension>();
  private hooks: readonly ShellHook[] = [];
  private hostConfig: Readonly<Record<string, unknown>>;
  private isClosed = false;

  constructor(
    private readonly settings: ManifestSettings,
    private readonly parts: ManifestParts,
  ) {
    this.hostConfig = settings.config ?? {};
  }

  get config(): Readonly<Record<string, unknown>> {
    return mergeConfiguration(this.hostConfig, this.prepared);
  }

  /** Sets the host configuration. It takes effect at the next `read`, `refresh` or `activate`. */
  set config(config: Readonly<Record<string, unknown>>) {
    this.hostConfig = config;
  }

  require(name: string): ExtensionPackage {
    const found = this.find(name);
    if (found) return found;
    const known = this.found.map((extension) => extension.name);
    throw new ExtensionPackageUnknownError(name, known);
  }

  isEnabled(name: string): boolean {
    const extension = this.find(name);
    if (extension === undefined || !this.parts.choices.isWanted(extension)) return false;
    return this.prepared.get(extension.name)?.blocked === undefined;
  }

  /** Finds the extension packages on disk, requests their approvals and activates them. */
  async read(): Promise<ManifestsReload> {
    const { parts, settings } = this;
    const before = this.compared();
    parts.diagnostics.clear();
    const { report } = parts.diagnostics;
    const damage = await parts.choices.load();
    if (damage !== undefined) report(stateDamaged(parts.choices.path, damage));
    const { extensions, diagnostics } = await discoverExtensions({
      compat: settings.compat,
      workspaceDir: settings.workspaceDir,
      roots: settings.extensionRoots,
      followLinks: settings.followLinks === true,
    });
    diagnostics.forEach(report);
    const prepared = await this.prepareAll(extensions);
    const { workspaceDir, skillRoots: roots } = settings;
    parts.standalone = await loadSkills({ gate: parts.gate, workspaceDir, roots });
    parts.standalone.diagnostics.forEach(report);
    const installed = await this.adopt(prepared, extensions);
    return { extensions: changesBetween(before, this.compared()), ...installed };
  }

  /** Reads the settings and approvals of the found extension packages again, but not their manifests. */
  async refresh(): Promise<void> {
    await this.adopt(await this.prepareAll(this.found), this.found);
  }

  /** Activates an enabled extension package, unless the user disabled it during the approval prompt. */
  async activate(name: string): Promise<void> {
    const { parts } = this;
    const extension = this.find(name);
    if (extension === undefined) return;
    const isStillEnabled = () => !this.isClosed && this.found.includes(extension) && parts.choices.isWanted(extension);
    if (!isStillEnabled() || isReady(this.prepared.get(extension.name))) return;
    const prepared = await this.prepare(extension);
    if (!isStillEnabled()) return;
    this.prepared.set(extension.name, prepared);
    await this.install();
  }

  /** Deactivates an extension package at once. Resolves when its servers have ended. */
  async deactivate({ name }: ExtensionPackage): Promise<void> {
    if (this.prepared.delete(name)) await this.install({ graceful: false });
  }

  statuses(): readonly ExtensionPackageStatus[] {
    const { choices } = this.parts;
    const servers = this.parts.servers.list();
    return this.found.map((extension) => {
      const { name } = extension;
      return extensionStatus(extension, {
        choices,
        prepared: this.prepared.get(name),
        servers: servers.get(name) ?? [],
      });
    });
  }

  /** Closes this set. No extension package is activated afterwards. */
  close(): void {
    this.isClosed = true;
  }

  private async prepareAll(extensions: readonly ExtensionPackage[]): Promise<readonly PreparedExtension[]> {
    const prepared: PreparedExtension[] = [];
    for (const extension of extensions) {
      if (this.parts.choices.isWanted(extension)) prepared.push(await this.prepare(extension));
    }
    return prepared;
  }

  /** Replaces all extension packages. Packages that were disabled during an approval prompt stay disabled. */
  private async adopt(
    prepared: readonly PreparedExtension[],
    found: readonly ExtensionPackage[],
  ): Promise<InstalledChanges> {
    if (this.isClosed) return { hooks: NO_CHANGES, servers: NO_CHANGES };
    const wanted = prepared.filter(({ extension }) => this.parts.choices.isWanted(extension));
    this.found = found;
    this.prepared.clear();
    for (const item of wanted) this.prepared.set(item.extension.name, item);
    return this.install();
  }

  /**
   * Makes the prepared extension packages the active ones, in the order of loading. Every change ends here. Hooks,
   * tools and skills change at once. Unchanged hooks stay registered, and unchanged servers stay connected.
   */
  private async install({ graceful } = { graceful: true }): Promise<InstalledChanges> {
    const { shell, servers } = this.parts;
    const active = this.found.flatMap(({ name }) => this.prepared.get(name) ?? []).filter(isReady);
    const before = this.hooks;
    this.hooks = shell.registry.replace(
      before.map(({ id }) => id),
      active.flatMap(({ hooks }) => hooks),
    );
    const hooks = changesBetween(before.map(comparedHook), this.hooks.map(comparedHook));
    const installed = servers.replace(active, { graceful });
    this.parts.publish(active);
    const [changedServers] = await Promise.all([installed, shell.registry.settled()]);
    return { hooks, servers: changedServers };
  }

  /** Returns the hooks of an extension package that are in the registry now. Other code may have added some of them. */
  private presentHooks(extension: string): PresentHooks {
    const replaced = this.hooks.filter((hook) => hook.extension === extension);
    const all = this.parts.shell.registry.list().filter((hook) => hook.extension === extension);
    return { replaced, others: all.filter((hook) => !replaced.includes(hook)) };
  }

  private async prepare(extension: ExtensionPackage): Promise<PreparedExtension> {
    const { gate, redactor } = this.parts;
    const prepared = await prepareExtension(extension, {
      settings: this.settings,
      gate,
      redactor,
      config: this.hostConfig,
      variablesOf: (name) => this.prepared.get(name)?.settings.variables ?? {},
      presentOf: (name) => this.presentHooks(name),
    });
    prepared.diagnostics.forEach(this.parts.diagnostics.report);
    return prepared;
  }

  private compared(): readonly ComparedItem[] {
    return this.found.map((extension) => {
      const { scope, settings, blocked, denied, texts } = this.prepared.get(extension.name) ?? {};
      const isWanted = this.parts.choices.isWanted(extension);
      const known = [extension, isWanted, scope, settings?.variables, blocked, denied, texts];
      return { name: extension.name, content: JSON.stringify(known) };
    });
  }

  private find(name: string): ExtensionPackage | undefined {
    return this.found.find((extension) => extension.name.toLowerCase() === String(name).toLowerCase());
  }
}

function isReady(prepared: PreparedExtension | undefined): boolean {
  return prepared !== undefined && prepared.blocked === undefined;
}

function stateDamaged(source: string, problem: string) {
  const message = `${problem}. All extensions stay disabled until you enable each one again.`;
  return { level: 'error', message, source, problems: [{ path: '', message: problem }] } as const;
}
