import { describeError } from '../../errors.js';
import type { Changes } from '../../internal/changes.js';
import { diagnosticOf, type ManifestDiagnostic } from '../../internal/problem.js';
import type { McpServerConfig, McpServerOrigin } from '../../mcp/config/definition.js';
import type { McpServers } from '../../mcp/mcp.js';
import type { McpServerState } from '../../mcp/server/status.js';
import type { ExtensionPackage } from '../extension.js';
import type { PreparedExtension } from './preparation.js';
import { originOf, serverId } from './trust-items.js';

/** The current state of an MCP server of an extension package. */
export interface ExtensionPackageServer {
  /** The server's name in the manifest. */
  readonly name: string;
  /** The name that the agent uses: `<extension>-<server>`, or the name of the extension if both names are equal. */
  readonly id: string;
  /** `left-out`: a server that takes precedence already has the name `id`. */
  readonly state: McpServerState | 'left-out';
}

interface Added {
  readonly prepared: PreparedExtension;
  readonly name: string;
  readonly id: string;
  readonly origin: McpServerOrigin;
}

/** Adds the servers of active extension packages to the MCP loader. */
export class InstalledServers {
  private added: readonly Added[] = [];

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
   * Makes the servers of the given extension packages the only added servers. Tools change at once, and an unchanged
   * server keeps its connection. Resolves when each new server is connected, waits for an approval or has failed. If
   * `graceful`, a removed server ends after its pending calls have their results. Otherwise these calls fail, and the
   * promise waits for the end of the server.
   */
  async replace(all: readonly PreparedExtension[], { graceful }: { readonly graceful: boolean }): Promise<Changes> {
    const wanted = this.wantedOf(all);
    const before = this.added;
    const gone = before.filter((known) => !wanted.some((server) => isSame(server, known)));
    this.added = wanted;
    const removed = gone.map(({ id, origin }) => this.mcp.remove(id, { graceful, origin }));
    const put = wanted.map(async (server) => {
      const isKept = before.some(({ prepared }) => prepared === server.prepared);
      return { id: server.id, outcome: isKept ? 'unchanged' : await this.put(server) };
    });
    const outcomes = await Promise.all(put);
    await Promise.all(removed);
    const idsOf = (wantedOutcome: string) =>
      outcomes.flatMap(({ id, outcome }) => (outcome === wantedOutcome ? [id] : []));
    const removedIds = gone.map(({ id }) => id);
    return { added: idsOf('added'), removed: removedIds, changed: idsOf('changed'), unchanged: idsOf('unchanged') };
  }

  list(): ReadonlyMap<string, readonly ExtensionPackageServer[]> {
    const holders = new Map(this.mcp.status().map((status) => [status.name, status]));
    const listed = new Map<string, ExtensionPackageServer[]>();
    for (const { prepared, name, id } of this.added) {
      const { extension } = prepared;
      const servers = listed.get(extension.name) ?? [];
      const holder = holders.get(id);
      const isOther = holder !== undefined && holder.extension !== extension.name;
      servers.push({ name, id, state: isOther ? 'left-out' : (holder?.state ?? 'invalid') });
      listed.set(extension.name, servers);
    }
    return listed;
  }

  private wantedOf(all: readonly PreparedExtension[]): readonly Added[] {
    const { workspaceDir, redact } = this.context;
    return all.flatMap((prepared) => {
      const { extension, settings } = prepared;
      const origin = { ...originOf(prepared, workspaceDir), settings: settings.variables, redact };
      const names = Object.keys(extension.mcpServers);
      return names.map((name) => ({ prepared, name, id: serverId(extension.name, name), origin }));
    });
  }

  private async put({ prepared, name, id, origin }: Added) {
    const { extension } = prepared;
    try {
      const outcome = await this.mcp.set(id, extension.mcpServers[name] as McpServerConfig, origin);
      if (outcome === 'left-out') this.report(extension, name, `it is left out: ${takenText(id)}`);
      return outcome;
    } catch (error) {
      this.report(extension, name, describeError(error));
      return undefined;
    }
  }

  private report({ name: extension, source }: ExtensionPackage, server: string, message: string): void {
    this.context.report(diagnosticOf('warning', { extension, source }, [{ path: `mcpServers.${server}`, message }]));
  }
}

function isSame(a: Added, b: Added): boolean {
  const sources = [a, b].map(({ origin: { precedence, source } }) => `${precedence} ${source}`);
  return a.prepared.extension.name === b.prepared.extension.name && a.name === b.name && sources[0] === sources[1];
}

/** Returns the message for a server whose name another server has. */
export function takenText(id: string): string {
  return `a server with precedence has the name "${id}". Rename one of them.`;
}
