import { expect, test } from 'vitest';
import { handServer, RESULTS, reply } from '../../support/mcp/http-server.js';
import { connected, stateOf } from '../../support/mcp/lab.js';

test('reads the list of tools within the time limit for connecting, not within that of a call', async () => {
  const server = await handServer(({ message }, response) => {
    if (message?.method !== 'tools/list') return false;
    setTimeout(() => reply(response, { jsonrpc: '2.0', id: message.id, result: RESULTS['tools/list'] }), 150);
    return true;
  });
  const timeouts = { callMs: 50, totalMs: 50 };
  const { mcp } = await connected({ servers: { slow: { url: server.url } }, timeouts });

  expect(stateOf(mcp, 'slow')).toBe('connected');
});
