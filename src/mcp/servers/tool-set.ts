import type { LiveToolSet } from '../../tools/tool.js';
import type { McpTool } from '../tools/mcp-tool.js';
import { toolPrefix } from '../tools/name.js';

/** The tools of all servers by their full names, and by those short names that only one server has. */
export class McpToolSet implements LiveToolSet {
  revision = 0;
  private tools: readonly McpTool[] = [];
  private byName: ReadonlyMap<string, McpTool> = new Map();
  private aliases: ReadonlyMap<string, McpTool | undefined> = new Map();

  /** `servers` returns the names of all servers, connected or not. */
  constructor(
    private readonly servers: () => Iterable<string>,
    private readonly onConflict: (tool: McpTool) => void,
  ) {}

  prefixes(): readonly string[] {
    return [...this.servers()].map(toolPrefix);
  }

  list(): readonly McpTool[] {
    return this.tools;
  }

  /** Finds a tool by its full name, or by its short name if only one server has a tool of that name. */
  find(name: string): McpTool | undefined {
    return this.byName.get(name) ?? this.aliases.get(name);
  }

  /** Replaces all tools. If two tools have the same name, the first is kept. */
  replace(tools: readonly McpTool[]): void {
    const byName = new Map<string, McpTool>();
    const aliases = new Map<string, McpTool | undefined>();
    for (const tool of tools) {
      if (byName.has(tool.name)) {
        this.onConflict(tool);
        continue;
      }
      byName.set(tool.name, tool);
      const alias = tool.metadata.mcpTool;
      // Otherwise a server could use the full name of another server's tool, and receive its calls while that server is
      // disconnected.
      if (alias.startsWith('mcp__')) continue;
      aliases.set(alias, aliases.has(alias) ? undefined : tool);
    }
    this.byName = byName;
    this.aliases = aliases;
    this.tools = [...byName.values()];
    this.revision += 1;
  }
}
