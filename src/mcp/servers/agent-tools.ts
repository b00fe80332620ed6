import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { LiveToolSet } from '../../tools/tool.js';
import type { McpTool } from '../tools/mcp-tool.js';
import { compareEntries, reportLeftOut } from './claims.js';
import type { Loader } from './loader.js';

/** The MCP loaders of each agent, in the order in which they were loaded. The key is the signal of the agent's host. */
const loadersByAgent = new WeakMap<AbortSignal, AgentTools[]>();

export function agentTools(loader: Loader, { signal }: LoaderHost): AgentTools {
  const loaders = loadersByAgent.get(signal) ?? [];
  loadersByAgent.set(signal, loaders);
  const known = loaders.find((tools) => tools.loader === loader);
  if (known !== undefined) return known;
  const added = new AgentTools(loader, loaders);
  loaders.push(added);
  return added;
}

/**
 * The tools that one MCP loader gives to one agent. If two loaders of an agent have a server of the same name, only one
 * of the servers gets the name. The same order of origins decides as inside one loader.
 */
export class AgentTools implements LiveToolSet {
  private readonly reported = new Set<string>();

  constructor(
    readonly loader: Loader,
    private readonly loaders: readonly AgentTools[],
  ) {}

  /** Grows with every change of a loader of the agent, because each change can free or take a name. */
  get revision(): number {
    let sum = this.loaders.length;
    for (const { loader } of this.loaders) sum += loader.servers.tools.revision + loader.servers.namesRevision;
    return sum;
  }

  list(): readonly McpTool[] {
    const tools = this.loader.servers.tools.list();
    return this.loaders.length === 1 ? tools : tools.filter((tool) => this.has(tool));
  }

  prefixes(): readonly string[] {
    return this.loader.servers.tools.prefixes();
  }

  find(name: string): McpTool | undefined {
    const tool = this.loader.servers.tools.find(name);
    return tool !== undefined && (this.loaders.length === 1 || this.has(tool)) ? tool : undefined;
  }

  /** Returns true if no other loader of the agent has a server of this name with precedence. */
  private has({ metadata: { mcpServer } }: McpTool): boolean {
    const entry = this.loader.servers.holder(mcpServer);
    if (entry === undefined) return true;
    const position = this.loaders.indexOf(this);
    const winner = this.loaders.find((other, at) => {
      const rival = other === this ? undefined : other.loader.servers.holder(mcpServer);
      if (rival === undefined) return false;
      // If both servers have the same origin, the server of the first loader gets the name.
      const order = compareEntries(rival, entry);
      return order < 0 || (order === 0 && at < position);
    });
    if (winner === undefined) this.reported.delete(mcpServer);
    else if (!this.reported.has(mcpServer)) {
      this.reported.add(mcpServer);
      reportLeftOut(entry, winner.loader.servers.holder(mcpServer) ?? entry, () => this.loader.logger);
    }
    return winner === undefined;
  }
}
