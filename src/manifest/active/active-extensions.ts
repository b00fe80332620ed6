import { type Changes, changesBetween } from '../../internal/changes.js';
import type { ShellHook } from '../../shell-hooks/hook/definition.js';
import { comparedHook, type PresentHooks } from '../../shell-hooks/hook/identity.js';
import type { HookRegistry } from '../../shell-hooks/hook/registry.js';
import type { InstalledServers } from './installed-servers.js';
import type { PreparedExtension } from './preparation.js';

/** Changes of hooks, by hook name, and of servers, by the name that the agent uses for each. */
export interface InstalledChanges {
  readonly hooks: Changes;
  readonly servers: Changes;
}

/** The active extension packages with their hooks and servers. Changes of hooks and tools take effect at once. */
export class ActiveExtensions {
  private readonly byName = new Map<string, PreparedExtension>();
  private hooks: readonly ShellHook[] = [];

  constructor(
    private readonly registry: HookRegistry,
    readonly servers: InstalledServers,
  ) {}

  /** Returns the active extension packages in the order of loading. */
  list(): readonly PreparedExtension[] {
    return [...this.byName.values()];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Adds an extension package after the others. Resolves when each of its servers is connected or has failed. */
  async add(prepared: PreparedExtension): Promise<void> {
    this.byName.set(prepared.extension.name, prepared);
    this.hooks = [...this.hooks, ...prepared.hooks.map((hook) => this.registry.register(hook))];
    await this.servers.add([prepared]);
  }

  /** Removes an extension package. Its hooks and tools are removed at once. Resolves when its servers have ended. */
  async remove(name: string): Promise<void> {
    if (!this.byName.delete(name)) return;
    const removed = this.hooks.filter((hook) => hook.extension === name);
    for (const { id } of removed) this.registry.unregister(id);
    this.hooks = this.hooks.filter((hook) => !removed.includes(hook));
    await this.servers.remove(name);
  }

  /** Replaces all extension packages. Unchanged hooks stay registered, and unchanged servers stay connected. */
  async replace(all: readonly PreparedExtension[]): Promise<InstalledChanges> {
    this.byName.clear();
    for (const prepared of all) this.byName.set(prepared.extension.name, prepared);
    const before = this.hooks;
    const ids = before.map(({ id }) => id);
    const wanted = all.flatMap(({ hooks }) => hooks);
    this.hooks = this.registry.replace(ids, wanted);
    const hooks = changesBetween(before.map(comparedHook), this.hooks.map(comparedHook));
    return { hooks, servers: await this.servers.replace(all) };
  }

  /** Returns the hooks of an extension package that are in the registry now. Other code may have added some of them. */
  presentHooks(extension: string): PresentHooks {
    const replaced = this.hooks.filter((hook) => hook.extension === extension);
    const all = this.registry.list().filter((hook) => hook.extension === extension);
    return { replaced, others: all.filter((hook) => !replaced.includes(hook)) };
  }
}
