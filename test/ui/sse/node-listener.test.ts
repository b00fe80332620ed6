import { once } from 'node:events';
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'keelson';
import { hangs, scriptedModel, streams } from 'keelson/testing';
import { createAgentHandler, toNodeListener } from 'keelson/ui';
import { expect, onTestFinished, test } from 'vitest';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { postTo, startChatServer } from '../../support/ui/chat-server.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { bodyOf } from '../../support/ui/read-ui-message.js';
import { playVanishingClients } from '../../support/ui/vanishing-clients.js';

function handlerOf(agent: Agent) {
  return createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'sse', onDisconnect: 'abort' });
}

test('puts a handler behind node:http', async () => {
  await using chat = await startChatServer(handlerOf(new Agent({ model: scriptedModel(['Hello.']) })));

  const events = await readSSE(await postTo(`${chat.url}/chat`, { id: 'chat', message: 'Hi' }));

  expect(events.at(-1)?.data).toMatchObject({ result: { text: 'Hello.' } });
});

test('gives the handler the path, the method and the headers', async () => {
  const seen: unknown[] = [];
  await using chat = await startChatServer(async (request) => {
    seen.push(new URL(request.url).pathname, request.method, request.headers.get('x-own'));
    const headers = new Headers([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
    return new Response(await request.text(), { status: 201, headers });
  });

  const response = await postTo(`${chat.url}/api/chat?x=1`, { a: 1 }, { headers: { 'x-own': '1' } });

  expect(seen).toEqual(['/api/chat', 'POST', '1']);
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await response.text()).toBe('{"a":1}');
});

test('aborts the run if the client disconnects', async () => {
  const agent = new Agent({ model: scriptedModel([streams(['Hel'], hangs())]) });
  const failed = new Promise((resolve) => agent.once('run-error', ({ error }) => resolve(error)));
  await using chat = await startChatServer(handlerOf(agent));
  const abort = new AbortController();
  const response = await postTo(`${chat.url}/chat`, { id: 'chat', message: 'Hi' }, { signal: abort.signal });
  await bodyOf(response).getReader().read();

  abort.abort();

  expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
});

test('refuses a large body, and answers the next request', async () => {
  await using chat = await startChatServer(handlerOf(new Agent({ model: scriptedModel(['Hello.']) })));

  const large = await postTo(`${chat.url}/chat`, { id: 'chat', message: 'x'.repeat(20_000_000) });

  expect(large.status).toBe(413);
  expect((await postTo(`${chat.url}/chat/stop`, { id: 'chat' })).status).toBe(200);
});

test('refuses a large body, and answers the next request of the same connection', async () => {
  const agent = new Agent({ model: scriptedModel([]) });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, maxBodyBytes: 1_000 });
  await using chat = await startChatServer(handler);
  const connection = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => connection.destroy());
  const send = (body: string) =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const request = httpRequest(`${chat.url}/chat/stop`, { method: 'POST', agent: connection, headers });
      request.once('response', (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      request.once('error', reject).end(body);
    });

  const large = await send(JSON.stringify({ id: 'chat', message: 'x'.repeat(200_000) }));
  const next = await send('{"id":"chat"}');

  expect([large, next]).toEqual([413, 200]);
});

test('answers 400 if the Host header is invalid', async () => {
  await using chat = await startChatServer(handlerOf(new Agent({ model: scriptedModel([]) })));

  const status = await new Promise((resolve, reject) => {
    const request = httpRequest(`${chat.url}/chat`, { headers: { host: 'a b' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('error', reject).end();
  });

  expect(status).toBe(400);
});

test('answers 500 if the handler rejects', async () => {
  await using chat = await startChatServer(() => Promise.reject(new TypeError('no')));

  expect((await fetch(chat.url)).status).toBe(500);
});

test('reads the path of Express before a router removed its prefix', async () => {
  const urls: string[] = [];
  const listener = toNodeListener((request) => {
    urls.push(request.url);
    return new Response(null, { status: 204 });
  });
  const request = Object.assign((async function* () {})(), {
    method: 'GET',
    url: '/history',
    originalUrl: '/chat/history',
    headers: { host: 'localhost' },
  });
  const response = { writeHead() {}, write: () => true, end() {}, once() {}, off() {}, destroyed: false };

  await listener(request, response);

  expect(urls).toEqual(['http://localhost/chat/history']);
});

/** Starts a server whose framework has parsed the body, and calls `mount` for each request. */
async function frameworkServer(mount: (request: IncomingMessage, response: ServerResponse, body: unknown) => unknown) {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    await mount(request, response, JSON.parse(Buffer.concat(chunks).toString()));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return () => postTo(`http://127.0.0.1:${port}/chat`, { id: 'chat', message: 'Hi' });
}

const helloListener = () => toNodeListener(handlerOf(new Agent({ model: scriptedModel(['Hello.']) })));
const textOf = async (response: Response) => (await readSSE(response)).at(-1)?.data;

test('takes the body that a parser of Express has left', async () => {
  const listener = helloListener();
  const send = await frameworkServer((request, response, body) => listener(Object.assign(request, { body }), response));

  expect(await textOf(await send())).toMatchObject({ result: { text: 'Hello.' } });
});

test('is a route handler of Fastify: the reply is hijacked, and keeps the headers of plugins', async () => {
  const listener = helloListener();
  const hijacked: boolean[] = [];
  const send = await frameworkServer((raw, response, body) =>
    listener(
      { raw, body },
      { raw: response, hijack: () => hijacked.push(true), getHeaders: () => ({ 'x-own': '1', 'x-none': undefined }) },
    ),
  );

  const response = await send();

  expect(await textOf(response)).toMatchObject({ result: { text: 'Hello.' } });
  expect([response.headers.get('x-own'), hijacked]).toEqual(['1', [true]]);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
});

test('is a middleware of Koa, which then does not respond itself', async () => {
  const listener = helloListener();
  const contexts: object[] = [];
  const send = await frameworkServer((req, res, body) => {
    const context = { req, res, request: { body }, originalUrl: req.url };
    contexts.push(context);
    return listener(context);
  });

  expect(await textOf(await send())).toMatchObject({ result: { text: 'Hello.' } });
  expect(contexts).toMatchObject([{ respond: false }]);
});

test('answers a body that was read and left nowhere with an error that names the remedy', async () => {
  const listener = helloListener();
  const send = await frameworkServer((request, response) => listener(request, response));

  const response = await send();

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({
    error: { code: 'ERR_UI_BODY_USED', message: expect.stringContaining('read `request.clone()`') },
  });
});

test('leaves no run behind when 50 clients read slowly or disconnect', () => playVanishingClients(50));

test('a handler that is passed to `createServer` itself answers with an error that names `toNodeListener`', async () => {
  const logger = keepingLogger();
  const agent = new Agent({ model: scriptedModel([]) });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, logger });
  const server = createServer(handler as never);
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;

  const response = await fetch(`http://127.0.0.1:${port}/chat`, { method: 'POST', body: '{}' });

  expect(response.status).toBe(500);
  expect(JSON.stringify(await response.json())).toContain('pass the handler to `toNodeListener`');
  expect(JSON.stringify(logger.lines)).toContain('toNodeListener');
});
