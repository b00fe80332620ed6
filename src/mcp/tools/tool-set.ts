import type { LiveToolSet } from '../../tools/tool.js';
import type { McpTool } from './mcp-tool.js';

/** The tools of all servers, each under a name of its own, and by the short names that belong to one of them alone. */
export class McpToolSet implements LiveToolSet {
  revision = 0;
  private tools: readonly McpTool[] = [];
  private byName: ReadonlyMap<string, McpTool> = new Map();
  private aliases: ReadonlyMap<string, McpTool | undefined> = new Map();

  constructor(private readonly onConflict: (tool: McpTool) => void) {}

  list(): readonly McpTool[] {
    return this.tools;
  }

  /** The tool of that name, or of that short name where only one server has it. */
  find(name: string): McpTool | undefined {
    return this.byName.get(name) ?? this.aliases.get(name);
  }

  /** Takes the place of what was there. Of two tools with one name the first is kept. */
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
      // Or a server could name a tool as one of another server's, and get its calls while that one is away.
      if (alias.startsWith('mcp__')) continue;
      aliases.set(alias, aliases.has(alias) ? undefined : tool);
    }
    this.byName = byName;
    this.aliases = aliases;
    this.tools = [...byName.values()];
    this.revision += 1;
  }
}
