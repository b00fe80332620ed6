import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md');
const extensions = from('https://github.com/google-gemini/gemini-cli/blob/main/docs/extensions/reference.md');

/** Gemini CLI. */
export const gemini: Program = {
  id: 'gemini',
  name: 'Gemini CLI',
  version: '0.2x',
  read: '2026-11',
  servers: {
    files: mcp(['.gemini/settings.json', 'gemini-extension.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({ httpUrl: 'url' }),
    inner: mcp(undefined),
    lists: mcp({ off: ['mcp', 'excluded'], on: ['mcp', 'allowed'] }),
    timeUnit: mcp('milliseconds'),
    startsIn: 'unknown',
    variables: extensions({ workspacePath: 'workspace', extensionPath: 'package', pathSeparator: 'separator' }),
    environment: 'unknown',
    unset: mcp('empty'),
    urlMeans: mcp('sse'),
  },
  packages: {
    manifest: extensions('gemini-extension.json'),
    parts: extensions([]),
  },
};
