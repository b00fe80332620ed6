import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers');

/** GitHub Copilot CLI, and the Copilot cloud agent. */
export const copilot: Program = {
  id: 'copilot',
  name: 'GitHub Copilot',
  version: '1.0',
  read: '2026-11',
  servers: {
    files: mcp(['.copilot/mcp-config.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({ tools: 'includeTools' }),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: 'unknown',
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
