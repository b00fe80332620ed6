/**
 * Returns a `fetch` that answers for any number of MCP servers without a network. Each server has the tool `drop`, whose
 * description is the URL of the server.
 */
export function memoryServers(): typeof fetch {
  return async (input, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(String(init.body)) as { id?: unknown; method: string; params?: Params };
    if (id === undefined) return new Response(null, { status: 202 });
    return Response.json({ jsonrpc: '2.0', id, result: resultOf(method, String(input), params) });
  };
}

interface Params {
  readonly protocolVersion?: string;
}

function resultOf(method: string, url: string, params: Params | undefined): object {
  const { protocolVersion } = params ?? {};
  const serverInfo = { name: 'memory', version: '1.0.0' };
  if (method === 'initialize') return { protocolVersion, capabilities: { tools: {} }, serverInfo };
  if (method === 'tools/list') {
    return { tools: [{ name: 'drop', description: url, inputSchema: { type: 'object' } }] };
  }
  return { content: [{ type: 'text', text: url }] };
}
