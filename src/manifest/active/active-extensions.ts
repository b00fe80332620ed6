import { type Changes, changesBetween } from '../../internal/changes.js';
import { comparedHook } from '../../shell-hooks/hook/hook-content.js';
import type { InstalledHooks } from './installed-hooks.js';
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

  constructor(
    readonly hooks: InstalledHooks,
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
    this.hooks.add(prepared.hooks);
    await this.servers.add([prepared]);
  }

  /** Removes an extension package. Its hooks and tools are removed at once. Resolves when its servers have ended. */
  async remove(name: string): Promise<void> {
    if (!this.byName.delete(name)) return;
    this.hooks.remove(name);
    await this.servers.remove(name);
  }

  /** Replaces all extension packages. Unchanged hooks stay registered, and unchanged servers stay connected. */
  async replace(all: readonly PreparedExtension[]): Promise<InstalledChanges> {
    this.byName.clear();
    for (const prepared of all) this.byName.set(prepared.extension.name, prepared);
    const before = this.hooks.list();
    const after = this.hooks.replace(all.flatMap(({ hooks }) => hooks));
    const hooks = changesBetween(before.map(comparedHook), after.map(comparedHook));
    return { hooks, servers: await this.servers.replace(all) };
  }
}
