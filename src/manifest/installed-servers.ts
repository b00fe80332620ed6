import { describeError } from '../errors.js';
import type { McpServers } from '../mcp/mcp.js';
import type { McpServerConfig, McpServerOrigin } from '../mcp/server-definition.js';
import type { McpServerState } from '../mcp/server-status.js';
import type { Extension, ExtensionScope } from './extension.js';
import type { ManifestDiagnostic } from './manifest-problem.js';
import type { ResolvedSettings } from './settings.js';

/** The servers of one extension. */
export interface ExtensionServers {
  readonly extension: Extension;
  readonly scope: ExtensionScope;
  readonly settings: ResolvedSettings;
}

/** A server of an extension as it stands. */
export interface ExtensionServer {
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
  private added: readonly Added[] = [];

  constructor(
    readonly mcp: McpServers,
    private readonly context: {
      readonly workspaceDir: string;
      readonly report: (diagnostic: ManifestDiagnostic) => void;
    },
  ) {}

  /** Lists the servers of an extension at once; resolves when each is connected, waits for an approval or has failed. */
  async add(from: ExtensionServers): Promise<void> {
    const { name: extension } = from.extension;
    const servers = Object.entries(from.extension.mcpServers);
    await Promise.all(
      servers.map(([name, config]) => {
        const id = this.freeName(extension, name);
        this.added = [...this.added, { extension, name, id }];
        return this.connect(from, { id, name, config: config as McpServerConfig });
      }),
    );
  }

  /** Takes the servers of an extension out: their tools leave at once. Resolves when no process of them is left. */
  async remove(extension: string): Promise<void> {
    const gone = this.added.filter((server) => server.extension === extension);
    this.added = this.added.filter((server) => !gone.includes(server));
    await Promise.all(gone.map(({ id }) => this.mcp.remove(id)));
  }

  /** The servers of an extension as they stand. */
  list(extension: string): readonly ExtensionServer[] {
    const states = new Map(this.mcp.status().map(({ name, state }) => [name, state]));
    return this.added
      .filter((server) => server.extension === extension)
      .map(({ name, id }) => ({ name, id, state: states.get(id) ?? 'invalid' }));
  }

  /** The first to come keeps the plain name: it stands in the names of tools, which are not to change. */
  private freeName(extension: string, name: string): string {
    const taken = new Set(this.mcp.status().map((server) => server.name));
    const own = `${extension}-${name}`;
    for (let id = name, count = 1; ; count += 1) {
      if (!taken.has(id)) return id;
      id = count === 1 ? own : `${own}-${count}`;
    }
  }

  private async connect(
    { extension, scope, settings }: ExtensionServers,
    { id, name, config }: { id: string; name: string; config: McpServerConfig },
  ): Promise<void> {
    const { root, source, format } = extension;
    const origin: McpServerOrigin = {
      ...{ scope, source, root, extension: extension.name, settings: settings.variables },
      workspaceDir: this.context.workspaceDir,
      ...{ argsRequired: format === 'native', urlMeans: format === 'gemini' ? 'sse' : 'http' },
    };
    try {
      await this.mcp.add(id, config, origin);
    } catch (error) {
      const problem = describeError(error);
      const message = `Extension "${extension.name}" (${source}): server "${name}": ${problem}`;
      const problems = [{ path: `mcpServers.${name}`, message: problem }];
      this.context.report({ level: 'error', message, extension: extension.name, source, problems });
    }
  }
}
