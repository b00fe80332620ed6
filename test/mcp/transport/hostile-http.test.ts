import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { pause, until } from '../../support/agent/settle.js';
import { type HandServer, handServer } from '../../support/mcp/http-server.js';
import { call, connected, stateOf } from '../../support/mcp/lab.js';

/** Starts a response and writes to it endlessly. */
function drip(response: ServerResponse, type: string, first = ''): true {
  response.writeHead(200, { 'content-type': type });
  response.write(first);
  const timer = setInterval(() => response.write(type === 'application/json' ? ' ' : ': x\n'), 20);
  response.on('close', () => clearInterval(timer));
  return true;
}

/** Makes a request to the server. It has then received what the client sent before. */
async function roundTrip({ url }: HandServer): Promise<void> {
  await pause(5);
  await fetch(url, { method: 'DELETE' });
}

const answerTo = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } });

/** Starts a server with its own handling of calls. Returns it with the responses that are still open. */
async function slowServer(
  onCall: (response: ServerResponse, id: unknown) => true,
): Promise<{ readonly server: HandServer; readonly open: Set<ServerResponse> }> {
  const open = new Set<ServerResponse>();
  const server = await handServer(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    open.add(response);
    response.on('close', () => open.delete(response));
    return onCall(response, message.id);
  });
  return { server, open };
}

describe('a finished call', () => {
  test.each<[string, (response: ServerResponse) => true]>([
    ['does not answer', () => true],
    ['drips JSON', (response) => drip(response, 'application/json')],
    ['drips an event stream', (response) => drip(response, 'text/event-stream')],
    [
      'drips an event stream that could be resumed',
      (response) => drip(response, 'text/event-stream', 'id: 1\ndata:\n\n'),
    ],
  ])('keeps no HTTP connection open if the server %s', async (_title, onCall) => {
    const { server, open } = await slowServer(onCall);
    const clock = fakeClock();
    const servers = { hand: { url: server.url } };
    const { mcp, logger } = await connected({ servers, timeouts: { callMs: 100 }, system: { clock } });

    for (let count = 1; count <= 3; count++) {
      const calling = call(mcp, 'echo');
      await until(() => server.seen.filter(({ message }) => message?.method === 'tools/call').length === count);
      clock.advance(100);
      expect(await calling).toMatchObject({ isError: true });
    }

    await until(() => open.size === 0);
    clock.advance(1_200);
    await roundTrip(server);
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(stateOf(mcp, 'hand')).toBe('connected');
    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('closes the HTTP connection if the server continues to write after its response', async () => {
    const { server, open } = await slowServer((response, id) =>
      drip(response, 'text/event-stream', `data: ${answerTo(id)}\n\n`),
    );
    const { mcp } = await connected({ servers: { hand: { url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'done' });
    await until(() => open.size === 0);
    expect(stateOf(mcp, 'hand')).toBe('connected');
  });
});

test('a pending call at close logs no warning', async () => {
  const server = await handServer(({ message }) =>
    ['tools/call', 'notifications/cancelled'].includes(message?.method ?? ''),
  );
  const clock = fakeClock();
  const servers = { hand: { url: server.url } };
  const { mcp, logger } = await connected({ servers, timeouts: { callMs: 100 }, system: { clock } });

  const calling = call(mcp, 'echo');
  await until(() => server.seen.some(({ message }) => message?.method === 'tools/call'));
  clock.advance(100);
  await calling;
  await mcp.close();

  await pause(50);
  expect(logger.lines.filter((line) => !line.startsWith('info'))).toEqual([]);
});

test('stays connected to a server that drops the request for an event stream', async () => {
  const server = await handServer(({ method }, response) => {
    if (method !== 'GET') return false;
    response.destroy();
    return true;
  });
  const { mcp } = await connected({ servers: { hand: { url: server.url } } });

  for (let count = 0; count < 3; count++) expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
  expect(mcp.status()).toMatchObject([{ state: 'connected', reconnects: 0 }]);
  expect(server.seen.filter(({ message }) => message?.method === 'initialize')).toHaveLength(1);
});

test('a call that exceeds the header timeout of `fetch` fails alone', async () => {
  const open: (() => void)[] = [];
  const server = await handServer(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    open.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message.id)));
    return true;
  });
  let calls = 0;
  // Node's `fetch` rejects this way after five minutes without response headers.
  const impatient: typeof fetch = (input, init) => {
    const isFirst = String(init?.body).includes('tools/call') && calls++ === 0;
    const cause = Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
    return isFirst ? Promise.reject(new TypeError('fetch failed', { cause })) : fetch(input, init);
  };
  const { mcp } = await connected({ servers: { hand: { url: server.url } }, system: { fetch: impatient } });

  const slow = call(mcp, 'echo');
  const other = call(mcp, 'echo');

  expect(await slow).toMatchObject({ isError: true, content: expect.stringContaining('Headers Timeout Error') });
  await until(() => open.length === 1);
  open[0]?.();
  expect(await other).toMatchObject({ content: 'done' });
  expect(mcp.status()).toMatchObject([{ state: 'connected', reconnects: 0 }]);
});

test('an event stream that ends at once is opened again only after a pause, even with `retry: 0`', async () => {
  const server = await handServer(({ method }, response) => {
    if (method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n');
    return true;
  });
  const clock = fakeClock();
  await connected({ servers: { hand: { url: server.url } }, system: { clock } });
  const streams = () => server.seen.filter(({ method }) => method === 'GET').length;

  for (let count = 1; count <= 3; count++) {
    await until(() => streams() === count && clock.delays.filter((ms) => ms === 200).length === count);
    clock.advance(199);
    await roundTrip(server);
    expect(streams()).toBe(count);
    clock.advance(1);
  }
});

test.each(['text/html', 'application/json', undefined])(
  'a response of the type %s instead of an event stream is requested once',
  async (type) => {
    const server = await handServer(({ method }, response) => {
      if (method !== 'GET') return false;
      response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('{"status":"ok"}');
      return true;
    });
    const clock = fakeClock();
    const { mcp } = await connected({ servers: { hand: { url: server.url } }, system: { clock } });
    clock.advance(1_300);
    await roundTrip(server);

    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
  },
);

test.each([
  ['with `oauth`', () => ({ provider: { tokens: () => undefined } as never })],
  ['without `oauth`', undefined],
])('repeated calls that a server forbids always report its reason: %s', async (_way, oauth) => {
  const server = await handServer(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    response.writeHead(403).end('The token is for reading.');
    return true;
  });
  const { mcp } = await connected({ servers: { a: { type: 'http', url: server.url } }, oauth });

  const answers = [];
  for (let count = 0; count < 5; count++) answers.push((await call(mcp, 'echo')).content);

  expect(new Set(answers)).toEqual(
    new Set(['The MCP server "a" does not allow this (403): The token is for reading.']),
  );
});
