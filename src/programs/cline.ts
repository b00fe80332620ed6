import { from } from './cell.js';
import type { Program } from './program.js';

const settings = from('https://docs.cline.bot/mcp/configuring-mcp-servers');
const roo = from('https://docs.roocode.com/features/mcp/using-mcp-in-roo');
const transport = from('https://github.com/cline/cline/issues/12044');

/** Cline, and Roo Code, which began as a copy of it. */
export const cline: Program = {
  id: 'cline',
  name: 'Cline and Roo Code',
  version: '3',
  read: '2026-11',
  servers: {
    files: roo(['cline_mcp_settings.json', 'mcp_settings.json', '.roo/mcp.json']),
    maps: settings([['mcpServers']]),
    fields: settings({}),
    inner: transport('transport'),
    lists: 'unknown',
    timeUnit: from('https://github.com/cline/cline/issues/9950')('seconds'),
    startsIn: 'unknown',
    variables: 'unknown',
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
