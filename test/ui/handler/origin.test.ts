import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';

const agent = new Agent({ model: scriptedModel([]) });
const handlerOf = (origins: readonly string[]) =>
  createAgentHandler(agent, { authorize: 'none', session: (id) => id, origins });
const history = (headers: Record<string, string>, url = 'http://localhost/api/chat/history?id=chat') =>
  new Request(url, { headers });

test.each([
  ['no origin', {}],
  ['the origin of the server', { origin: 'http://localhost' }],
  ['the origin of the server behind a proxy that ends TLS', { origin: 'https://localhost' }],
  ['an origin that its browser compared', { origin: 'https://renamed.test', 'sec-fetch-site': 'same-origin' }],
  ['a listed origin', { origin: 'https://app.test' }],
])('answers a request with %s', async (_title, headers) => {
  expect((await handlerOf(['https://app.test'])(history(headers))).status).toBe(200);
});

test.each([
  ['another origin', { origin: 'https://evil.test' }],
  ['another port', { origin: 'http://localhost:81' }],
  ['the origin "null"', { origin: 'null' }],
  ['no origin, from another site', { 'sec-fetch-site': 'cross-site' }],
])('refuses a request with %s', async (_title, headers) => {
  const response = await handlerOf(['https://app.test'])(history(headers));

  expect(response.status).toBe(403);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});

/** A request as a framework makes it: the URL has the name that the server listens on. */
const deployed = (headers: Record<string, string>) =>
  history(headers, 'http://localhost:3000/api/chat/history?id=chat');

test.each<[string, Record<string, string>, boolean]>([
  ['the `Host` header', { host: 'chat.example', origin: 'https://chat.example' }, false],
  ['the `Host` header with a port', { host: 'chat.example:8080', origin: 'http://chat.example:8080' }, false],
  [
    'the headers of a proxy',
    {
      host: '10.0.0.7:3000',
      'x-forwarded-host': 'chat.example',
      'x-forwarded-proto': 'https',
      origin: 'https://chat.example',
    },
    true,
  ],
  [
    'the first name of several proxies',
    { host: 'inner', 'x-forwarded-host': 'chat.example, inner', origin: 'http://chat.example' },
    true,
  ],
])('takes its own origin from %s and not from the URL', async (_title, headers, trustProxy) => {
  const handler = createAgentHandler(agent, { authorize: () => 'ada', session: (id) => id, trustProxy });

  expect((await handler(deployed(headers))).status).toBe(200);
});

test.each([
  {
    title: 'the name in the URL',
    headers: { host: 'chat.example', origin: 'http://localhost:3000' },
    own: 'http://chat.example',
  },
  {
    title: 'the name of an untrusted proxy',
    headers: { host: 'inner', 'x-forwarded-host': 'chat.example', origin: 'http://chat.example' },
    own: 'http://inner',
  },
  {
    title: 'another scheme',
    headers: { 'x-forwarded-host': 'chat.example', 'x-forwarded-proto': 'https', origin: 'http://chat.example' },
    trustProxy: true,
    own: 'https://chat.example',
  },
])('refuses $title, with both origins', async ({ headers, trustProxy, own }) => {
  const handler = createAgentHandler(agent, { authorize: () => 'ada', session: (id) => id, trustProxy });

  const response = await handler(deployed(headers as Record<string, string>));

  expect(response.status).toBe(403);
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  expect(error.message).toBe(
    `The origin "${headers.origin}" must be the origin of the server, "${own}", or one of \`origins\`. ` +
      'Behind a proxy, set `trustProxy`, or let the proxy pass the `Host` header on.',
  );
});

test('lets a page of a listed origin read the response', async () => {
  const response = await handlerOf(['https://app.test'])(history({ origin: 'https://app.test' }));

  expect(response.headers.get('access-control-allow-origin')).toBe('https://app.test');
  expect(response.headers.get('vary')).toBe('origin');
});

test('adds the headers to a response of `authorize`', async () => {
  const authorize = () => Response.redirect('https://login.test/', 302);
  const handler = createAgentHandler(agent, { authorize, session: (id) => id, origins: ['https://app.test'] });

  const response = await handler(history({ origin: 'https://app.test' }));

  expect(response.status).toBe(302);
  expect(response.headers.get('access-control-allow-origin')).toBe('https://app.test');
});

test('answers the preflight request of a listed origin', async () => {
  const request = new Request('http://localhost/api/chat', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.test', 'access-control-request-headers': 'content-type, x-key' },
  });

  const response = await handlerOf(['https://app.test'])(request);

  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toBe('content-type, x-key');
});

test('refuses the preflight request of another origin', async () => {
  const request = new Request('http://localhost/api/chat', {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.test' },
  });

  expect((await handlerOf([])(request)).status).toBe(403);
});

/** Sends a request as a page of `host`, whose name has the address of this server. */
const rebound = (host: string) =>
  new Request(`http://${host}/chat`, {
    method: 'POST',
    headers: { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'x', message: 'run' }),
  });

test.each([
  ['localhost', 200],
  ['localhost:3000', 200],
  ['LOCALHOST', 200],
  ['127.0.0.1:3000', 200],
  ['[::1]:3000', 200],
  ['rebound.evil.example:3000', 403],
  ['localhost.evil.example', 403],
  ['127.0.0.1.evil.example', 403],
])('without `authorize`, answers a request to %s with status code %i', async (host, status) => {
  const runs = new Agent({ model: scriptedModel(['Hi.']) });
  const handler = createAgentHandler(runs, { authorize: 'none', session: (id) => id, protocol: 'sse' });

  const response = await handler(rebound(host));
  const text = await response.text();

  expect(response.status).toBe(status);
  if (status === 403) expect(JSON.parse(text).error).toMatchObject({ code: 'ERR_UI_HOST_REFUSED' });
});

test.each([
  [['chat.example'], 'chat.example', 200],
  [['chat.example'], 'chat.example:8080', 200],
  [['chat.example:8080'], 'chat.example:8080', 200],
  [['chat.example:80'], 'chat.example', 200],
  [['chat.example:8080'], 'chat.example:9090', 403],
  [['chat.example'], 'localhost', 403],
])('`hosts` %j and a request to %s give status code %i', async (hosts, host, status) => {
  for (const authorize of ['none', () => 'ada'] as const) {
    const handler = createAgentHandler(agent, { authorize, session: (id) => id, hosts });

    expect((await handler(history({ host }))).status).toBe(status);
  }
});

test('with `authorize`, every host is answered', async () => {
  const handler = createAgentHandler(agent, { authorize: () => 'ada', session: (id) => id });

  expect((await handler(history({ host: 'chat.example' }))).status).toBe(200);
});

test.each(['https://chat.example', 'chat.example/', 'user@chat.example', ''])('refuses the host %j', (host) => {
  expect(() => createAgentHandler(agent, { authorize: 'none', session: (id) => id, hosts: [host] })).toThrow(
    '`hosts[0]` must be the name of a host such as "app.example.com"',
  );
});
