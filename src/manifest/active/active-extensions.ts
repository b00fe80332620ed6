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

/** The active extension packages with their hooks and servers. */
export class ActiveExtensions {
  private prepared: readonly PreparedExtension[] = [];
  private hooks: readonly ShellHook[] = [];

  constructor(
    private readonly registry: HookRegistry,
    readonly servers: InstalledServers,
  ) {}

  /** Returns the active extension packages in the order of loading. */
  list(): readonly PreparedExtension[] {
    return this.prepared;
  }

  /**
   * Replaces all extension packages. Changes of hooks and tools take effect at once. Unchanged hooks stay registered,
   * and unchanged servers stay connected. Resolves as `InstalledServers.replace` does.
   */
  async replace(
    all: readonly PreparedExtension[],
    { graceful }: { readonly graceful: boolean },
  ): Promise<InstalledChanges> {
    const before = this.hooks;
    const ids = before.map(({ id }) => id);
    const wanted = all.flatMap(({ hooks }) => hooks);
    this.prepared = all;
    this.hooks = this.registry.replace(ids, wanted);
    const hooks = changesBetween(before.map(comparedHook), this.hooks.map(comparedHook));
    return { hooks, servers: await this.servers.replace(all, { graceful }) };
  }

  /** Returns the hooks of an extension package that are in the registry now. Other code may have added some of them. */
  presentHooks(extension: string): PresentHooks {
    const replaced = this.hooks.filter((hook) => hook.extension === extension);
    const all = this.registry.list().filter((hook) => hook.extension === extension);
    return { replaced, others: all.filter((hook) => !replaced.includes(hook)) };
  }
}
