import { from } from './cell.js';
import type { Program } from './program.js';

const plugins = from('https://code.claude.com/docs/en/plugins-reference');
const mcp = from('https://code.claude.com/docs/en/mcp');

/** Claude Code. */
export const claude: Program = {
  id: 'claude',
  name: 'Claude Code',
  version: '2.1',
  read: '2026-11',
  servers: {
    files: mcp(['.mcp.json', '.claude.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({}),
    inner: mcp(undefined),
    lists: mcp({}),
    timeUnit: mcp('milliseconds'),
    startsIn: from('https://github.com/anthropics/claude-code/issues/17565')('workspace'),
    variables: mcp({ CLAUDE_PROJECT_DIR: 'workspace', CLAUDE_PLUGIN_ROOT: 'package' }),
    environment: mcp(['CLAUDE_PROJECT_DIR', 'CLAUDE_PLUGIN_ROOT']),
    unset: mcp('unavailable'),
    urlMeans: 'unknown',
  },
  packages: {
    manifest: plugins('.claude-plugin/plugin.json'),
    parts: plugins(['hooks/hooks.json', '.mcp.json', 'skills', 'commands', 'agents']),
  },
};
