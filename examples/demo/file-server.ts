import { fileURLToPath } from 'node:url';
import { type McpServers, mcpServers } from 'keelson/mcp';
import type { Folder } from './folder.js';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));

/** Returns the official MCP filesystem server for the folder, with two tools that the demo itself does not have. */
export function fileServer({ root }: Folder): McpServers {
  return mcpServers({
    waitForServers: true,
    servers: {
      files: {
        ...{ command: process.execPath, args: [program, root], cwd: root },
        includeTools: ['get_file_info', 'list_directory_with_sizes'],
      },
    },
  });
}
