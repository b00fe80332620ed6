import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://cursor.com/docs/context/mcp');

/** Cursor. */
export const cursor: Program = {
  id: 'cursor',
  name: 'Cursor',
  version: '2026.09',
  read: '2026-09',
  servers: {
    files: mcp(['.cursor/mcp.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({}),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: mcp({
      userHome: 'home',
      workspaceFolder: 'workspace',
      workspaceFolderBasename: 'workspaceName',
      pathSeparator: 'separator',
    }),
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
