import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { pause, until } from '../../support/agent/settle.js';
import { everythingOverHttp, freePort } from '../../support/mcp/everything.js';
import { type HandServer, handServer, reply, type SeenRequest } from '../../support/mcp/http-server.js';
import { call, connected, raw, stateOf } from '../../support/mcp/lab.js';

const isCall = ({ message }: SeenRequest) => message?.method === 'tools/call';
const methods = ({ seen }: HandServer) => seen.map(({ method, message }) => message?.method ?? method);

describe('the Streamable HTTP transport', () => {
  test('sends headers, the protocol version and the session id, and ends the session on close', async () => {
    const server = await handServer();
    const config = { url: server.url, headers: { 'X-Key': 'k' }, protocol: '2025-11-25' } as const;
    const { mcp } = await connected({ servers: { a: config } });
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

  test('opens a new session and repeats each call once if the server lost the session', async () => {
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

  test('sends a call twice at most if the server loses every session', async () => {
    const server = await handServer((request, response) => {
      if (isCall(request)) response.writeHead(404).end('Session not found');
      return isCall(request);
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('no longer knows the session'),
    });
    expect(server.seen.filter(isCall)).toHaveLength(2);
  });

  test('reports what to configure after status 401, and makes no automatic attempt', async () => {
    let refuses = false;
    const server = await handServer((_request, response) => {
      if (refuses) response.writeHead(401).end('no token');
      return refuses;
    });
    const reconnect = { maxRetries: 1_000, initialDelayMs: 20, maxDelayMs: 20 };
    const { mcp } = await connected({ servers: { a: { url: server.url } }, reconnect });
    refuses = true;
    const code = 'ERR_MCP_UNAUTHORIZED';
    const message =
      'MCP server "a" requires an authorization: it answered with status 401 and said: no token; set `headers` or `oauth`.';

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: message });
    await expect(mcp.server('a').readResource('x:y')).rejects.toMatchObject({ code, message });
    await server.kill();
    await call(mcp, 'echo');
    await server.revive();
    await until(() => stateOf(mcp, 'a') === 'unavailable');
    expect(mcp.status()[0]?.lastError).toBe(message);
  });

  test('accepts a response whose id is a string with the number', async () => {
    const server = await handServer((request, response) => {
      if (isCall(request))
        reply(response, { jsonrpc: '2.0', id: String(request.message?.id), result: { content: 'yes' } });
      return isCall(request);
    });
    const clock = fakeClock();
    const { mcp, logger } = await connected({ servers: { a: { url: server.url } }, system: { clock } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'yes' });
    clock.advance(600);
    await pause(10);
    expect(logger.lines).toEqual(['info: MCP server "a": connected']);
  });

  test('fails a call at once if the server does not open the stream that should continue its response', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 10\ndata: \n\n');
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('disconnected before it answered'),
    });
    expect(stateOf(mcp, 'a')).toBe('connected');
  });

  test('fails a call at once if the connection ends before the response', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': on my way\n\n');
      setTimeout(() => response.destroy(), 20);
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: expect.stringContaining('disconnected before it answered'),
    });
    expect(stateOf(mcp, 'a')).toBe('connected');
  });

  test.each(['application/json', 'text/event-stream'])('refuses a response of 30 MB as %s', async (type) => {
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

  test('applies the size limit to each event of a stream, not to all together', async () => {
    const server = await handServer((request, response) => {
      if (!isCall(request)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const note = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'debug', data: 'x'.repeat(800) },
      });
      for (let count = 0; count < 100; count++) response.write(`data: ${note}\r\n\r\n`);
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: request.message?.id, result: { content: [] } })}\n\n`);
      return true;
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } }, limits: { messageBytes: 2_000 } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: '' });
  });

  test.each([
    [500, 'had an internal error (500): down'],
    [503, 'is not available now; try again later (503): down'],
    [429, 'received too many requests; try again later (429): down'],
    [403, 'does not allow this (403): down'],
    [418, 'refused the request (418): down'],
  ])('explains the HTTP status %i', async (status, explanation) => {
    const server = await handServer((request, response) => {
      if (isCall(request)) response.writeHead(status).end('down');
      return isCall(request);
    });
    const { mcp } = await connected({ servers: { a: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: `The MCP server "a" ${explanation}` });
  });

  test('detects at the next call that the server is gone, and reconnects', async () => {
    const server = await handServer();
    const { mcp } = await connected({
      servers: { a: { url: server.url }, b: raw() },
      reconnect: { maxRetries: 1_000, initialDelayMs: 5, maxDelayMs: 10 },
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

  test('does not follow a redirect to another host', async () => {
    const other = await handServer();
    const server = await handServer((_request, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    });
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url, headers: { Authorization: 'Bearer x' } } },
      reconnect: false,
    });

    expect(stateOf(mcp, 'a')).toBe('unavailable');
    expect(mcp.status()[0]?.lastError).toBe(
      `The MCP server "a" redirects to another URL; set that as its \`url\` (307): Redirect to ${other.url} not followed`,
    );
    expect(other.seen).toEqual([]);
  });

  test('follows a redirect within the origin, with the method and the headers', async () => {
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

  test('continues a response in a new stream after the last event and the delay that the server sets', async () => {
    let id: unknown;
    const stream = { 'content-type': 'text/event-stream' };
    const server = await handServer((request, response) => {
      if (isCall(request)) {
        id = request.message?.id;
        response.writeHead(200, stream).end('id: 7\nretry: 250\ndata:\n\n');
      } else if (request.headers['last-event-id'] === '7') {
        response
          .writeHead(200, stream)
          .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: 'late' } })}\n\n`);
      } else return false;
      return true;
    });
    const clock = fakeClock();
    const { mcp } = await connected({ servers: { a: { url: server.url } }, system: { clock } });
    const calling = call(mcp, 'echo');
    await until(() => clock.delays.includes(250));
    expect(server.seen.some(({ headers }) => headers['last-event-id'] !== undefined)).toBe(false);
    clock.advance(250);

    expect(await calling).toMatchObject({ content: 'late' });
  });

  test('reports a web page at the URL as an unexpected content type', async () => {
    const server = await handServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      return true;
    });
    const { mcp } = await connected({ servers: { a: { type: 'http', url: server.url } } });

    expect(mcp.status()[0]?.lastError).toBe(
      'The MCP server "a" gave no usable response: unexpected content type: text/html',
    );
  });
});

test('reconnects to a server that was killed during a call', async () => {
  let isHanging = true;
  const server = await handServer((request) => isCall(request) && isHanging);
  const reconnect = { maxRetries: 1_000, initialDelayMs: 5, maxDelayMs: 10 };
  const { mcp } = await connected({ servers: { a: { url: server.url } }, reconnect });
  const calling = call(mcp, 'echo');
  await until(() => server.seen.some(isCall));

  await server.kill();

  expect(await calling).toMatchObject({ isError: true });
  await until(() => stateOf(mcp, 'a') === 'reconnecting');
  expect(mcp.tools.list()).toEqual([]);
  isHanging = false;
  await server.revive();
  await until(() => stateOf(mcp, 'a') === 'connected');
  expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
});

test('reconnects to a real server over SSE that was killed during a call', async () => {
  const port = await freePort();
  const first = await everythingOverHttp('sse', port);
  const { mcp } = await connected({
    servers: { a: { type: 'sse', url: first.url } },
    reconnect: { maxRetries: 1_000, initialDelayMs: 20, maxDelayMs: 20 },
  });
  const steps: unknown[] = [];
  const long = { name: 'trigger-long-running-operation', progress: (step: unknown) => steps.push(step) };
  const calling = call(mcp, long, { duration: 30, steps: 300 });
  await until(() => steps.length > 0);

  await first[Symbol.asyncDispose]();

  expect(await calling).toMatchObject({ isError: true });
  await until(() => stateOf(mcp, 'a') === 'reconnecting');
  expect(mcp.tools.list()).toEqual([]);
  await using second = await everythingOverHttp('sse', port);
  await until(() => stateOf(mcp, 'a') === 'connected');
  expect(await call(mcp, 'echo', { message: second.url })).toMatchObject({ content: `Echo: ${second.url}` });
}, 30_000);
