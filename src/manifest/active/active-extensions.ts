import type { InstalledHooks } from './installed-hooks.js';
import type { InstalledServers } from './installed-servers.js';
import type { PreparedExtension } from './preparation.js';

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

  /** Puts others in the place of all. A server of the user's that is connected and has not changed stays so. */
  async replace(all: readonly PreparedExtension[]): Promise<void> {
    const before = new Map(this.byName);
    this.byName.clear();
    for (const prepared of all) this.byName.set(prepared.extension.name, prepared);
    this.hooks.replace(all.flatMap(({ hooks }) => hooks));
    const changed = all.filter((prepared) => !isSame(prepared, before.get(prepared.extension.name)));
    const changedNames = new Set(changed.map(({ extension }) => extension.name));
    const gone = [...before.keys()].filter((name) => changedNames.has(name) || !this.byName.has(name));
    const closed = gone.map((name) => this.servers.remove(name));
    const connected = this.servers.add(changed);
    await Promise.all([...closed, connected]);
  }
}

function isSame(prepared: PreparedExtension, before: PreparedExtension | undefined): boolean {
  if (before === undefined || prepared.scope !== 'user') return false;
  return serversOf(prepared) === serversOf(before);
}

function serversOf({ extension, scope, settings }: PreparedExtension): string {
  const { mcpServers, root, source, format } = extension;
  return JSON.stringify([scope, root, source, format, mcpServers, settings.variables]);
}
