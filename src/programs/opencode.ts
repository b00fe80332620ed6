import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://opencode.ai/docs/mcp-servers/');
const newer = from('https://opencode.ai/v2/docs/mcp-servers/');

/** opencode. Its hooks are modules of its own, which Keelson does not load. */
export const opencode: Program = {
  id: 'opencode',
  name: 'opencode',
  version: '2',
  read: '2026-11',
  servers: {
    files: mcp(['opencode.json', 'opencode.jsonc']),
    maps: newer([['mcp', 'servers'], ['mcp']]),
    fields: mcp({ environment: 'env' }),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: mcp('milliseconds'),
    startsIn: newer('workspace'),
    variables: 'unknown',
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
