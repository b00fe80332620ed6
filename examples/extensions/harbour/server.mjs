// An MCP server without dependencies, because an approved extension runs from a copy of its own folder.
import { createInterface } from 'node:readline';

const moor = {
  name: 'moor',
  description: 'Moors a ship.',
  inputSchema: { type: 'object', properties: { ship: { type: 'string' }, draught: { type: 'number' } } },
};
/** @type {Record<string, (params: { protocolVersion: string, arguments: { ship: string } }) => object>} */
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'tides', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [moor] }),
  'tools/call': ({ arguments: { ship } }) => ({
    content: [{ type: 'text', text: `${ship} is moored, for the pilot ${process.env.PILOT_TOKEN}.` }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: result ?? {} }));
}
