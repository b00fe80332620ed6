import { describeError } from '../../errors.js';
import type { Changes } from '../../internal/changes.js';
import type { ManifestDiagnostic } from '../../internal/problem.js';
import type { McpServerConfig, McpServerOrigin } from '../../mcp/config/definition.js';
import type { McpServers } from '../../mcp/mcp.js';
import type { McpServerState } from '../../mcp/server/status.js';
import { formatOf } from '../formats/list.js';
import type { PreparedExtension } from './preparation.js';

/** The current state of an MCP server of an extension package. */
export interface ExtensionPackageServer {
  /** The server's name in the manifest. */
  readonly name: string;
  /** The name that the agent uses. It differs from `name` if another server already had that name. */
  readonly id: string;
  readonly state: McpServerState;
}

interface Added {
  readonly extension: string;
  readonly name: string;
  readonly id: string;
}

/** Adds the servers of active extension packages to the MCP loader. */
export class InstalledServers {
  private added: Added[] = [];

  constructor(
    readonly mcp: McpServers,
    private readonly context: {
      readonly workspaceDir: string;
      readonly report: (diagnostic: ManifestDiagnostic) => void;
      /** Removes sensitive settings from data of the servers. */
      readonly redact: McpServerOrigin['redact'];
    },
  ) {}

  /**
   * Adds the servers of extension packages at once. Resolves when each server is connected, waits for an approval or
   * has failed.
   */
  async add(all: readonly PreparedExtension[]): Promise<void> {
    const taken = new Set(this.mcp.status().map(({ name }) => name));
    const connecting = all.flatMap((prepared) =>
      Object.keys(prepared.extension.mcpServers).map((name) => {
        const extension = prepared.extension.name;
        const server = { extension, name, id: freeName(extension, name, taken) };
        taken.add(server.id);
        this.added.push(server);
        return () => this.put(prepared, server);
      }),
    );
    await Promise.all(connecting.map((connect) => connect()));
  }

  /**
   * Replaces the servers with those of the given extension packages, and resolves as `add` does. An unchanged server
   * keeps its connection. Open calls of a removed or changed server get their results before the server ends.
   */
  async replace(all: readonly PreparedExtension[]): Promise<Changes> {
    const wanted = all.flatMap((prepared) =>
      Object.keys(prepared.extension.mcpServers).map((name) => [prepared, name] as const),
    );
    const known = ({ extension: { name: extension } }: PreparedExtension, name: string) =>
      this.added.find((server) => server.extension === extension && server.name === name);
    const kept = new Set(wanted.flatMap(([prepared, name]) => known(prepared, name) ?? []));
    const gone = this.added.filter((server) => !kept.has(server));
    const removed = gone.map(({ id }) => this.mcp.remove(id, { graceful: true }));
    const taken = new Set(this.mcp.status().map(({ name }) => name));
    const placed = wanted.map(([prepared, name]) => {
      const extension = prepared.extension.name;
      const server = known(prepared, name) ?? { extension, name, id: freeName(extension, name, taken) };
      taken.add(server.id);
      return { prepared, server };
    });
    this.added = placed.map(({ server }) => server);
    const put = placed.map(async ({ prepared, server }) => ({
      id: server.id,
      outcome: await this.put(prepared, server),
    }));
    const outcomes = await Promise.all(put);
    await Promise.all(removed);
    const idsOf = (wantedOutcome: string) =>
      outcomes.flatMap(({ id, outcome }) => (outcome === wantedOutcome ? [id] : []));
    const removedIds = gone.map(({ id }) => id);
    return { added: idsOf('added'), removed: removedIds, changed: idsOf('changed'), unchanged: idsOf('unchanged') };
  }

  /**
   * Removes the servers of an extension package. Their tools are removed at once. Resolves when all their processes
   * have ended.
   */
  async remove(extension: string): Promise<void> {
    const gone = this.added.filter((server) => server.extension === extension);
    this.added = this.added.filter((server) => !gone.includes(server));
    await Promise.all(gone.map(({ id }) => this.mcp.remove(id)));
  }

  /** Returns the current servers of each extension package. */
  list(): ReadonlyMap<string, readonly ExtensionPackageServer[]> {
    const states = new Map(this.mcp.status().map(({ name, state }) => [name, state]));
    const listed = new Map<string, ExtensionPackageServer[]>();
    for (const { extension, name, id } of this.added) {
      const servers = listed.get(extension) ?? [];
      servers.push({ name, id, state: states.get(id) ?? 'invalid' });
      listed.set(extension, servers);
    }
    return listed;
  }

  private async put({ extension, scope, settings }: PreparedExtension, { name, id }: Added) {
    const { root, source, mcpServers } = extension;
    const { argsRequired, urlMeans } = formatOf(extension.format);
    const origin: McpServerOrigin = {
      ...{ scope, source, root, extension: extension.name, settings: settings.variables },
      ...{ workspaceDir: this.context.workspaceDir, redact: this.context.redact, argsRequired, urlMeans },
    };
    try {
      return await this.mcp.set(id, mcpServers[name] as McpServerConfig, origin);
    } catch (error) {
      const problem = describeError(error);
      const message = `Extension "${extension.name}" (${source}): server "${name}": ${problem}`;
      const problems = [{ path: `mcpServers.${name}`, message: problem }];
      this.context.report({ level: 'error', message, extension: extension.name, source, problems });
      return undefined;
    }
  }
}

/** The first server keeps the plain name, because tool names contain it and must not change. */
function freeName(extension: string, name: string, taken: ReadonlySet<string>): string {
  const own = `${extension}-${name}`;
  for (let id = name, count = 1; ; count += 1) {
    if (!taken.has(id)) return id;
    id = count === 1 ? own : `${own}-${count}`;
  }
}
