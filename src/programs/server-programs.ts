import { from } from './cell.js';
import type { Program } from './program.js';

const VS_CODE = 'https://code.visualstudio.com/docs/agents/reference/mcp-configuration';
const VARIABLES = 'https://code.visualstudio.com/docs/reference/variables-reference';

/** The variables of Visual Studio Code and Cursor, with the values that they stand for. */
export const EDITOR_VARIABLES = {
  userHome: 'home',
  workspaceFolder: 'workspace',
  workspaceFolderBasename: 'workspaceName',
  pathSeparator: 'separator',
} as const;

const vscodeServers = from(VS_CODE);

/** Visual Studio Code. Its hooks are described with GitHub Copilot, whose hooks it runs. */
const vscode: Program = {
  id: 'vscode',
  name: 'Visual Studio Code',
  version: '2026.07',
  read: '2026-11',
  servers: {
    files: vscodeServers(['.vscode/mcp.json']),
    maps: vscodeServers([['servers']]),
    fields: vscodeServers({}),
    inner: vscodeServers(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: from(VARIABLES)(EDITOR_VARIABLES),
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: vscodeServers('http'),
  },
};

const OPENCODE = 'https://opencode.ai/docs/mcp-servers/';
const OPENCODE_2 = 'https://opencode.ai/v2/docs/mcp-servers/';
const opencodeServers = from(OPENCODE);

/** opencode. Its hooks are JavaScript modules, which Keelson does not load. */
const opencode: Program = {
  id: 'opencode',
  name: 'opencode',
  version: '2',
  read: '2026-11',
  servers: {
    files: opencodeServers(['opencode.json', 'opencode.jsonc']),
    maps: from(OPENCODE_2, OPENCODE)([['mcp', 'servers'], ['mcp']]),
    fields: opencodeServers({ environment: 'env' }),
    inner: opencodeServers(undefined),
    lists: 'unknown',
    timeUnit: opencodeServers('milliseconds'),
    startsIn: from(OPENCODE_2)('workspace'),
    variables: 'unknown',
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: from('https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/mcp/index.ts')('http'),
  },
};

const CLINE = 'https://docs.cline.bot/mcp/mcp-overview';
const CLINE_SCHEMA = 'https://github.com/cline/cline/blob/main/apps/vscode/src/services/mcp/schemas.ts';
const ROO = 'https://github.com/RooCodeInc/Roo-Code/blob/main/src/services/mcp/McpHub.ts';
const schemas = from(CLINE_SCHEMA, ROO);

/** Cline, and Roo Code, which began as a copy of Cline. */
const cline: Program = {
  id: 'cline',
  name: 'Cline and Roo Code',
  version: 'Cline 4.1, Roo Code 3.52',
  read: '2026-11',
  servers: {
    files: from(CLINE, ROO)(['cline_mcp_settings.json', '.cline/mcp.json', 'mcp_settings.json', '.roo/mcp.json']),
    maps: schemas([['mcpServers']]),
    fields: schemas({}),
    inner: from(CLINE_SCHEMA)('transport'),
    lists: 'unknown',
    timeUnit: schemas('seconds'),
    startsIn: from(ROO)('workspace'),
    variables: from(ROO)({ workspaceFolder: 'workspace' }),
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: from(CLINE_SCHEMA)('sse'),
  },
};

/** The programs of which Keelson reads the MCP servers, but no hooks or packages. */
export const SERVER_PROGRAMS: readonly Program[] = [vscode, opencode, cline];
