import { describe, expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { everythingOverHttp, freePort } from '../../support/mcp/everything.js';
import { type HandServer, handServer, reply, type SeenRequest } from '../../support/mcp/http-server.js';
import { call, connected, raw, stateOf } from '../../support/mcp/lab.js';

const isCall = ({ message }: SeenRequest) => message?.method === 'tools/call';
const methods = ({ seen }: HandServer) => seen.map(({ method, message }) => message?.method ?? method);

describe('over Streamable HTTP', () => {
  test('headers go along, the protocol version and the session too, and the session is ended on close', async () => {
    const server = await handServer();
    const { mcp } = await connected({ servers: { a: { url: server.url, headers: { 'X-Key': 'k' } } } });
    await call(mcp, 'echo');

    await mcp.close();

    expect(methods(server)).toEqual([
      'initialize',
      'notifications/initialized',
      'GET',
      'tools/list',
      'tools/call',
      'DELETE',
    ]);
    expect(new Set(server.seen.map(({ headers }) => headers['x-key']))).toEqual(new Set(['k']));
    const last = server.seen.at(-1)?.headers;
    expect(last).toMatchObject({ 'mcp-session-id': expect.any(String), 'mcp-protocol-version': '2025-06-18' });
  });

  test('a session that the server has forgotten is begun anew, and the call is made again, once', async () => {
    let forgotten = false;
    const server = await handServer((request, response) => {
      if (!isCall(request) || forgotten) return false;
      forgotten = true;
      response.writeHead(404).end();
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    const results = await Promise.all([call(mcp, 'echo'), call(mcp, 'echo'), call(mcp, 'echo')]);

    expect(results.map(({ content }) => content)).toEqual(['answered', 'answered', 'answered']);
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(2);
    expect(mcp.status()).toMatchObject([{ state: 'connected', reconnects: 1 }]);
  });

  test('a server that forgets the session at each call is asked twice, and not on and on', async () => {
    const server = await handServer((request, response) => {
      if (isCall(request)) response.writeHead(404).end('Session not found');
      return isCall(request);
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: expect.stringContaining('forgotten') });
    expect(server.seen.filter(isCall)).toHaveLength(2);
  });

  test('a refusal for want of an authorization says what to give, and is not tried again by itself', async () => {
    let refuses = false;
    const server = await handServer((_request, response) => {
      if (refuses) response.writeHead(401).end('no token');
      return refuses;
    });
    const reconnect = { attempts: 1_000, initialMs: 20, maxMs: 20 };
    const { mcp } = await connected({ servers: { a: { url: server.url } }, reconnect });
    refuses = true;
    const code = 'ERR_MCP_UNAUTHORIZED';
    const message =
      'MCP server "a" wants an authorization: it answered with 401 and said: no token; give `headers` or `oauth`.';

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: message });
    await expect(mcp.server('a').readResource('x:y')).rejects.toMatchObject({ code, message });
    await server.kill();
    await call(mcp, 'echo');
    await server.revive();
    await until(() => stateOf(mcp, 'a') === 'unavailable');
    expect(mcp.status()[0]?.lastError).toBe(message);
  });

  test('an answer under the number as a text is one, and nothing else comes of it', async () => {
    const server = await handServer((request, response) => {
      if (isCall(request))
        reply(response, { jsonrpc: '2.0', id: String(request.message?.id), result: { content: 'yes' } });
      return isCall(request);
    });
    const { mcp, logger } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'yes' });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(logger.lines).toEqual(['info: MCP server "a": connected']);
  });

  test('an answer that is to go on in a stream that the server does not have fails at once', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 10\ndata: \n\n');
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });
    const started = Date.now();

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: expect.stringContaining('broke off') });
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(stateOf(mcp, 'a')).toBe('connected');
  });

  test('an answer that breaks off is an error result, long before the time is up', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': on my way\n\n');
      setTimeout(() => response.destroy(), 20);
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });
    const started = Date.now();

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: expect.stringContaining('broke off') });
    expect(Date.now() - started).toBeLessThan(2_000);
    expect(stateOf(mcp, 'a')).toBe('connected');
  });

  test.each(['application/json', 'text/event-stream'])('an answer of 30 MB as %s is bounded', async (type) => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': type });
      const id = request.message?.id;
      const text = 'x'.repeat(30_000_000);
      const message = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
      response.end(type === 'application/json' ? message : `data: ${message}\n\n`);
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('16777216 bytes'),
    });
    expect(stateOf(mcp, 'a')).toBe('connected');
  });

  test('many events of a stream may together be longer than one may be', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const note = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'debug', data: 'x'.repeat(800) },
      });
      for (let at = 0; at < 100; at++) response.write(`data: ${note}\r\n\r\n`);
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: request.message?.id, result: { content: [] } })}\n\n`);
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } }, limits: { messageBytes: 2_000 } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: '' });
  });

  test.each([
    [500, 'failed inside (500): down'],
    [503, 'is not available now: try again later (503): down'],
    [429, 'has had too many requests: try again later (429): down'],
    [403, 'does not allow this (403): down'],
    [418, 'refused the request (418): down'],
  ])('HTTP %i is said in plain words', async (status, words) => {
    const server = await handServer((request, response) => {
      if (isCall(request)) response.writeHead(status).end('down');
      return isCall(request);
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: `The MCP server "a" ${words}` });
  });

  test('a server that goes away is noticed at the next call, and comes back', async () => {
    const server = await handServer();
    const { mcp } = await connected({
      servers: { a: { url: server.url }, b: raw() },
      reconnect: { attempts: 1_000, initialMs: 5, maxMs: 10 },
    });
    await server.kill();

    expect(await call(mcp, 'mcp__a__echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('was lost'),
    });
    expect(stateOf(mcp, 'a')).toBe('reconnecting');
    expect(mcp.tools.find('mcp__a__echo')).toBe(undefined);
    expect(await call(mcp, 'mcp__b__echo')).toMatchObject({ content: 'echo: {}' });

    await server.revive();
    await until(() => stateOf(mcp, 'a') === 'connected');
    expect(await call(mcp, 'mcp__a__echo')).toMatchObject({ content: 'answered' });
  });

  test('a redirect to another host is not followed, and takes no header along', async () => {
    const other = await handServer();
    const server = await handServer((_request, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    });
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url, headers: { Authorization: 'Bearer x' } } },
    });

    expect(stateOf(mcp, 'a')).toBe('unavailable');
    expect(mcp.status()[0]?.lastError).toBe(
      `The MCP server "a" has another address, which has to be given as its \`url\` (307): Redirect to ${other.url} not followed`,
    );
    expect(other.seen).toEqual([]);
  });

  test('a redirect within the origin is followed, with the method and the headers', async () => {
    const server = await handServer(({ path }, response) => {
      if (path !== '/mcp') return false;
      response.writeHead(308, { location: '/mcp/' }).end();
      return true;
    });
    const { mcp } = await connected({ servers: { a: { type: 'http', url: server.url, headers: { 'X-Key': 'k' } } } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
    const followed = server.seen.filter(({ path }) => path === '/mcp/');
    expect(followed.filter(isCall).map(({ headers }) => headers['x-key'])).toEqual(['k']);
  });

  test('an answer goes on in another stream after the pause that the server names, from the last event on', async () => {
    let id: unknown;
    const stream = { 'content-type': 'text/event-stream' };
    const server = await handServer((request, response) => {
      if (isCall(request)) {
        id = request.message?.id;
        response.writeHead(200, stream).end('id: 7\nretry: 150\ndata:\n\n');
      } else if (request.headers['last-event-id'] === '7') {
        response
          .writeHead(200, stream)
          .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: 'late' } })}\n\n`);
      } else return false;
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });
    const start = performance.now();

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'late' });
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  });

  test('an address where there is a page is told so', async () => {
    const server = await handServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      return true;
    });
    const { mcp } = await connected({ servers: { a: { type: 'http', url: server.url } } });

    expect(mcp.status()[0]?.lastError).toBe(
      'The MCP server "a" could not be asked: Unexpected content type: text/html',
    );
  });
});

test.each(['sse', 'streamableHttp'] as const)(
  'a real server over %s that is killed in a call gives an error result, and is found again',
  async (mode) => {
    const port = await freePort();
    const first = await everythingOverHttp(mode, port);
    const { mcp } = await connected({
      servers: { a: { type: mode === 'sse' ? 'sse' : 'http', url: first.url } },
      reconnect: { attempts: 1_000, initialMs: 20, maxMs: 20 },
    });
    const calling = call(mcp, 'trigger-long-running-operation', { duration: 30, steps: 3 });
    await new Promise((resolve) => setTimeout(resolve, 100));

    await first[Symbol.asyncDispose]();

    expect(await calling).toMatchObject({ isError: true });
    await until(() => stateOf(mcp, 'a') === 'reconnecting');
    expect(mcp.tools.list()).toEqual([]);
    await using second = await everythingOverHttp(mode, port);
    await until(() => stateOf(mcp, 'a') === 'connected');
    expect(await call(mcp, 'echo', { message: second.url })).toMatchObject({ content: `Echo: ${second.url}` });
  },
  20_000,
);
