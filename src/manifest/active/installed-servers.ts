import { describeError } from '../../errors.js';
import type { ManifestDiagnostic } from '../../internal/problem.js';
import type { McpServerConfig, McpServerOrigin } from '../../mcp/config/definition.js';
import type { McpServers } from '../../mcp/mcp.js';
import type { McpServerState } from '../../mcp/server/status.js';
import { formatOf } from '../formats/list.js';
import type { PreparedExtension } from './preparation.js';

/** A server of an extension as it stands. */
export interface ExtensionPackageServer {
  /** Its name in the manifest. */
  readonly name: string;
  /** The name that it goes by, another one where that was taken. */
  readonly id: string;
  readonly state: McpServerState;
}

interface Added {
  readonly extension: string;
  readonly name: string;
  readonly id: string;
}

/** Keeps a loader of servers in step with the extensions that are active. */
export class InstalledServers {
  private added: Added[] = [];

  constructor(
    readonly mcp: McpServers,
    private readonly context: {
      readonly workspaceDir: string;
      readonly report: (diagnostic: ManifestDiagnostic) => void;
    },
  ) {}

  /** Lists the servers of extensions at once; resolves when each is connected, waits for an approval or has failed. */
  async add(all: readonly PreparedExtension[]): Promise<void> {
    const taken = new Set(this.mcp.status().map(({ name }) => name));
    const connecting = all.flatMap((prepared) =>
      Object.entries(prepared.extension.mcpServers).map(([name, config]) => {
        const extension = prepared.extension.name;
        const server = { extension, name, id: freeName(extension, name, taken) };
        taken.add(server.id);
        this.added.push(server);
        return () => this.connect(prepared, server, config);
      }),
    );
    await Promise.all(connecting.map((connect) => connect()));
  }

  /** Takes the servers of an extension out: their tools leave at once. Resolves when no process of them is left. */
  async remove(extension: string): Promise<void> {
    const gone = this.added.filter((server) => server.extension === extension);
    this.added = this.added.filter((server) => !gone.includes(server));
    await Promise.all(gone.map(({ id }) => this.mcp.remove(id)));
  }

  /** The servers as they stand, by extension. */
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

  private async connect({ extension, scope, settings }: PreparedExtension, { name, id }: Added, config: object) {
    const { root, source } = extension;
    const { argsRequired, urlMeans } = formatOf(extension.format);
    const origin: McpServerOrigin = {
      ...{ scope, source, root, extension: extension.name, settings: settings.variables },
      ...{ workspaceDir: this.context.workspaceDir, argsRequired, urlMeans },
    };
    try {
      await this.mcp.add(id, config as McpServerConfig, origin);
    } catch (error) {
      const problem = describeError(error);
      const message = `Extension "${extension.name}" (${source}): server "${name}": ${problem}`;
      const problems = [{ path: `mcpServers.${name}`, message: problem }];
      this.context.report({ level: 'error', message, extension: extension.name, source, problems });
    }
  }
}

/** The first to come keeps the plain name: it stands in the names of tools, which are not to change. */
function freeName(extension: string, name: string, taken: ReadonlySet<string>): string {
  const own = `${extension}-${name}`;
  for (let id = name, count = 1; ; count += 1) {
    if (!taken.has(id)) return id;
    id = count === 1 ? own : `${own}-${count}`;
  }
}
