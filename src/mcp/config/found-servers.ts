import { resolve } from 'node:path';
import { workspaceRoots } from '../../process/files/workspace.js';
import { failureText } from '../failure-text.js';
import type { McpServersOptions } from '../options.js';
import { readConfigFile } from './config-file.js';
import type { McpServerEntry, McpServerOrigin } from './definition.js';

const WORKSPACE_FILE = '.mcp.json';

/** The servers that one configuration file names, or the reason why the file cannot be read. */
export type FoundServers = { readonly path: string } & (
  | { readonly entries: readonly McpServerEntry[] }
  | { readonly problem: string }
);

/** Reads the configuration files of the host, then the `.mcp.json` of the workspace. Never rejects. */
export async function findServers({ configFiles = [], workspaceDir }: McpServersOptions): Promise<FoundServers[]> {
  const files: { readonly path: string; readonly scope: McpServerOrigin['scope'] }[] = configFiles.map((path) => ({
    path: resolve(path),
    scope: 'builtin',
  }));
  if (workspaceDir !== undefined && workspaceRoots(workspaceDir).length > 0)
    files.push({ path: resolve(workspaceDir, WORKSPACE_FILE), scope: 'workspace' });
  const found: FoundServers[] = [];
  for (const { path, scope } of files) {
    try {
      found.push({ path, entries: await readConfigFile(path, { scope }) });
    } catch (error) {
      // Stores only safe text: the message of a parser error quotes characters of the file.
      found.push({ path, problem: failureText(error) });
    }
  }
  return found;
}
