import { from } from './cell.js';
import type { Program } from './program.js';

const own = from('docs/mcp.md');

/** Keelson. */
export const native: Program = {
  id: 'native',
  name: 'Keelson',
  version: '1.0',
  read: '2026-11',
  servers: {
    files: own([]),
    maps: own([['mcpServers'], ['context_servers']]),
    fields: own({ httpUrl: 'url', serverUrl: 'url', tools: 'includeTools', disabledTools: 'excludeTools' }),
    inner: own(undefined),
    lists: own({}),
    timeUnit: own('milliseconds'),
    startsIn: own('package'),
    variables: own({}),
    environment: own([]),
    unset: own('unavailable'),
    urlMeans: own('http'),
  },
  packages: {
    manifest: from('docs/manifest.md')('manifest.json'),
    parts: from('docs/manifest.md')([]),
  },
};
