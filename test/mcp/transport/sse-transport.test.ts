import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type HandServer, handServer, RESULTS, type SeenRequest } from '../../support/mcp/http-server.js';
import { call, connected } from '../../support/mcp/lab.js';

/** Starts an SSE server that answers the first calls with the given HTTP status codes. */
async function sseServer(codes: number[], results: object = RESULTS): Promise<HandServer> {
  let stream: ServerResponse | undefined;
  return handServer(({ method, message }: SeenRequest, response) => {
    if (method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages?session=1\n\n');
      return true;
    }
    const code = message?.method === 'tools/call' ? codes.shift() : undefined;
    response.writeHead(code ?? 202).end('said');
    if (code !== undefined || message?.id === undefined) return true;
    const answer = { jsonrpc: '2.0', id: message.id, result: Reflect.get(results, message.method ?? '') ?? {} };
    stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    return true;
  });
}

describe('the SSE transport', () => {
  test('opens a new session and repeats the call if the server lost the session', async () => {
    const server = await sseServer([404]);
    const { mcp } = await connected({ servers: { a: { type: 'sse', url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(2);
    expect(mcp.status()).toMatchObject([{ state: 'connected', transport: 'sse', reconnects: 1 }]);
  });

  test('explains the status code of a refused call', async () => {
    const server = await sseServer([503]);
    const { mcp } = await connected({ servers: { a: { type: 'sse', url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: 'The MCP server "a" is not available now; try again later (503): said',
    });
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
  });

  test('closes the stream after a response above the size limit, and reports the limit', async () => {
    const server = await sseServer([], { ...RESULTS, 'tools/call': { content: 'x'.repeat(3_100) } });
    const limits = { messageBytes: 3_100 };
    const { mcp } = await connected({ servers: { a: { type: 'sse', url: server.url } }, limits, reconnect: false });

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: expect.stringContaining('3100 bytes') });
    expect(mcp.status()[0]).toMatchObject({ state: 'unavailable', lastError: expect.stringContaining('3100 bytes') });
  });

  test('sends a call twice at most if the server loses every session', async () => {
    const server = await sseServer([404, 404, 404]);
    const { mcp } = await connected({ servers: { a: { type: 'sse', url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('no longer knows the session'),
    });
    expect(server.seen.filter(({ message }) => message?.method === 'tools/call')).toHaveLength(2);
  });
});

test.each([
  [405, 'nope'],
  [404, 'nope'],
  [200, '<html>'],
])('reports the first refusal if the server also refuses SSE, with status %i', async (code, said) => {
  const server = await handServer(({ method }, response) => {
    if (method === 'POST') response.writeHead(400).end('The header X-Key is missing.');
    else response.writeHead(code, { 'content-type': 'text/html' }).end(said);
    return true;
  });
  const { mcp } = await connected({ servers: { a: { url: server.url, protocol: '2025-11-25' } } });

  expect(mcp.status()[0]?.lastError).toBe(
    'The MCP server "a" did not understand the request (400): The header X-Key is missing.',
  );
  expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
});
