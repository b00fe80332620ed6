import { resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';
import { readBytes } from '../../process/files/file-bytes.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { programOfServers } from '../../programs/list.js';
import { McpConfigError } from '../error.js';
import type { McpServersOptions } from '../options.js';
import { failureText } from '../server-log.js';
import type { McpServerEntry, McpServerOrigin } from './definition.js';
import { findServerMap, readServerMap } from './server-map.js';

const MAX_BYTES = 1_048_576;
const WORKSPACE_FILE = '.mcp.json';

type FoundServers = { readonly path: string } & (
  | { readonly entries: readonly McpServerEntry[] }
  | { readonly problem: string }
);

/**
 * Reads the configuration files of the host, then the `.mcp.json` of the workspace. Never rejects: a file that cannot
 * be read is returned with its problem.
 */
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

/**
 * Reads the server definitions of a file such as `.mcp.json`. The file holds `{ "mcpServers": { … } }`, or only the map
 * of servers. Returns an empty array if the file is missing. Rejects with a McpConfigError if the file cannot be read
 * or is not a JSON object. Accepts comments and trailing commas, as editors write them.
 *
 * @example
 * const entries = await readMcpConfig('.mcp.json', { scope: 'workspace' });
 * console.log(entries.map(({ name }) => name));
 */
export async function readConfigFile(
  path: string,
  origin: Omit<McpServerOrigin, 'source'>,
): Promise<readonly McpServerEntry[]> {
  const source = resolve(path);
  const read = await readBytes(source, MAX_BYTES);
  if ('problem' in read) {
    if (read.isAbsent) return [];
    throw new McpConfigError(source, `${read.problem}.`);
  }
  const json = readJson(read.bytes.toString('utf8'), { comments: true });
  if ('problem' in json) throw new McpConfigError(source, `${json.problem}.`);
  if (!isObject(json.value)) throw new McpConfigError(source, 'it must be a JSON object.');
  const from = { program: programOfServers(source)?.id, ...origin, source };
  const { value, lost } = json;
  const { keys } = findServerMap(value);
  return readServerMap(value, from).map((entry) => {
    // The keys that the JSON reader dropped from this server.
    const own = lost.filter(({ path }) => [...keys, entry.name].every((step, at) => String(path[at]) === step));
    return { ...entry, notes: [...entry.notes, ...own.map((key) => `${pathText(key.path)}: ${lossText(key)}`)] };
  });
}
