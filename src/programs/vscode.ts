import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://code.visualstudio.com/docs/copilot/reference/mcp-configuration');
const variables = from('https://code.visualstudio.com/docs/reference/variables-reference');

/** Visual Studio Code. */
export const vscode: Program = {
  id: 'vscode',
  name: 'Visual Studio Code',
  version: '1.1xx',
  read: '2026-11',
  servers: {
    files: mcp(['.vscode/mcp.json']),
    maps: mcp([['servers']]),
    fields: mcp({}),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: variables({
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
