import type { LoaderHost } from '../lifecycle/lifecycle.js';
import type { LiveToolSet } from '../tools/tool.js';
import { compareOrigins, reportLeftOut } from './server/claims.js';
import type { ServerPool } from './server-pool.js';
import type { McpTool } from './tools/mcp-tool.js';

/** The MCP loaders of each agent, in the order in which they were loaded. The key is the signal of the agent's host. */
const loadersByAgent = new WeakMap<AbortSignal, AgentTools[]>();

/** Returns the tools that an MCP loader gives to the agent of a host. */
export function agentTools(pool: ServerPool, { signal }: LoaderHost): AgentTools {
  const loaders = loadersByAgent.get(signal) ?? [];
  loadersByAgent.set(signal, loaders);
  const known = loaders.find((tools) => tools.pool === pool);
  if (known !== undefined) return known;
  const added = new AgentTools(pool, loaders);
  loaders.push(added);
  return added;
}

/**
 * The tools that one MCP loader gives to one agent. If two loaders of an agent have a server of the same name, only one
 * of the servers gets the name, by the rule that holds inside of a loader.
 */
export class AgentTools implements LiveToolSet {
  private readonly reported = new Set<string>();

  constructor(
    readonly pool: ServerPool,
    private readonly loaders: readonly AgentTools[],
  ) {}

  /** Grows with every change of a loader of the agent, because each change can free or take a name. */
  get revision(): number {
    return this.loaders.reduce(
      (sum, { pool }) => sum + pool.members.tools.revision + pool.namesRevision,
      this.loaders.length,
    );
  }

  list(): readonly McpTool[] {
    const tools = this.pool.members.tools.list();
    return this.loaders.length === 1 ? tools : tools.filter((tool) => this.has(tool));
  }

  prefixes(): readonly string[] {
    return this.pool.members.tools.prefixes();
  }

  find(name: string): McpTool | undefined {
    const tool = this.pool.members.tools.find(name);
    return tool !== undefined && this.has(tool) ? tool : undefined;
  }

  /** Returns true if no other loader of the agent has a server of this name with precedence. */
  private has({ metadata: { mcpServer } }: McpTool): boolean {
    const entry = this.pool.holder(mcpServer);
    if (entry === undefined) return true;
    const position = this.loaders.indexOf(this);
    const winner = this.loaders.find((loader, at) => {
      const other = loader === this ? undefined : loader.pool.holder(mcpServer);
      if (other === undefined) return false;
      // Of two servers of one origin, that of the first loader gets the name.
      const order = compareOrigins(other, entry);
      return order < 0 || (order === 0 && at < position);
    });
    if (winner === undefined) this.reported.delete(mcpServer);
    else if (!this.reported.has(mcpServer)) {
      this.reported.add(mcpServer);
      reportLeftOut(entry, winner.pool.holder(mcpServer) ?? entry, () => this.pool.logger);
    }
    return winner === undefined;
  }
}
