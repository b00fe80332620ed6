import { type Changes, changesBetween } from '../../internal/changes.js';
import { comparedHook } from '../../shell-hooks/hook/hook-content.js';
import type { InstalledHooks } from './installed-hooks.js';
import type { InstalledServers } from './installed-servers.js';
import type { PreparedExtension } from './preparation.js';

/** The changes of hooks, by their names, and of servers, by the names that they go by. */
export interface InstalledChanges {
  readonly hooks: Changes;
  readonly servers: Changes;
}

/** The extensions that take part, with their hooks and servers. Changes of hooks and tools take effect at once. */
export class ActiveExtensions {
  private readonly byName = new Map<string, PreparedExtension>();

  constructor(
    readonly hooks: InstalledHooks,
    readonly servers: InstalledServers,
  ) {}

  /** In the order of loading. */
  list(): readonly PreparedExtension[] {
    return [...this.byName.values()];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Adds an extension behind the others. Resolves when its servers are connected or have failed. */
  async add(prepared: PreparedExtension): Promise<void> {
    this.byName.set(prepared.extension.name, prepared);
    this.hooks.add(prepared.hooks);
    await this.servers.add([prepared]);
  }

  /** Takes an extension out: none of its hooks starts again, and its tools are gone. Resolves when its servers are too. */
  async remove(name: string): Promise<void> {
    if (!this.byName.delete(name)) return;
    this.hooks.remove(name);
    await this.servers.remove(name);
  }

  /** Puts others in the place of all. Hooks and servers that have not changed stay. */
  async replace(all: readonly PreparedExtension[]): Promise<InstalledChanges> {
    this.byName.clear();
    for (const prepared of all) this.byName.set(prepared.extension.name, prepared);
    const before = this.hooks.list();
    const after = this.hooks.replace(all.flatMap(({ hooks }) => hooks));
    const hooks = changesBetween(before.map(comparedHook), after.map(comparedHook));
    return { hooks, servers: await this.servers.replace(all) };
  }
}
