import type { LoaderHost } from '../lifecycle/lifecycle.js';
import type { LiveToolSet } from '../tools/tool.js';
import { compareOrigins } from './server/claims.js';
import type { ServerPool } from './server-pool.js';
import type { McpTool } from './tools/mcp-tool.js';

/** The MCP loaders of each agent, in the order in which they were loaded. The key is the signal of the agent's host. */
const poolsByAgent = new WeakMap<AbortSignal, ServerPool[]>();

/**
 * The tools that one MCP loader gives to one agent. If two loaders of an agent have a server of the same name, only one
 * of the servers gets the name, by the rule that holds inside of a loader.
 */
export class AgentTools implements LiveToolSet {
  private readonly pools: ServerPool[];
  private readonly reported = new Set<string>();

  constructor(
    private readonly own: ServerPool,
    { signal }: LoaderHost,
  ) {
    this.pools = poolsByAgent.get(signal) ?? [];
    poolsByAgent.set(signal, this.pools);
    if (!this.pools.includes(own)) this.pools.push(own);
  }

  /** Grows with every change of a loader of the agent, because each change can free or take a name. */
  get revision(): number {
    return this.pools.reduce(
      (sum, { tools, namesRevision }) => sum + tools.revision + namesRevision,
      this.pools.length,
    );
  }

  list(): readonly McpTool[] {
    const tools = this.own.tools.list();
    return this.pools.length === 1 ? tools : tools.filter((tool) => this.has(tool));
  }

  find(name: string): McpTool | undefined {
    const tool = this.own.tools.find(name);
    return tool !== undefined && this.has(tool) ? tool : undefined;
  }

  /** Returns true if no other loader of the agent has a server of this name with precedence. */
  private has({ metadata: { mcpServer } }: McpTool): boolean {
    const entry = this.own.holder(mcpServer);
    if (entry === undefined) return true;
    const position = this.pools.indexOf(this.own);
    const winner = this.pools.find((pool, i) => {
      const other = pool === this.own ? undefined : pool.holder(mcpServer);
      if (other === undefined) return false;
      // Of two servers of one origin, that of the first loader gets the name.
      const order = compareOrigins(other, entry);
      return order < 0 || (order === 0 && i < position);
    });
    if (winner === undefined) this.reported.delete(mcpServer);
    else if (!this.reported.has(mcpServer)) {
      this.reported.add(mcpServer);
      this.own.reportLeftOut(entry, winner.holder(mcpServer) ?? entry);
    }
    return winner === undefined;
  }
}
