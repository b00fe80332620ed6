import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';

const agent = new Agent({ model: scriptedModel([]) });
const handlerOf = (origins: readonly string[]) =>
  createAgentHandler(agent, { authorize: 'none', session: (id) => id, origins });
const history = (headers: Record<string, string>, url = 'http://chat.test/api/chat/history?id=chat') =>
  new Request(url, { headers });

test.each([
  ['no origin', {}],
  ['the origin of the server', { origin: 'http://chat.test' }],
  ['the origin of the server behind a proxy that ends TLS', { origin: 'https://chat.test' }],
  ['a listed origin', { origin: 'https://app.test' }],
])('answers a request with %s', async (_title, headers) => {
  expect((await handlerOf(['https://app.test'])(history(headers))).status).toBe(200);
});

test.each([
  ['another origin', { origin: 'https://evil.test' }],
  ['another port', { origin: 'http://chat.test:81' }],
  ['the origin "null"', { origin: 'null' }],
  ['no origin, from another site', { 'sec-fetch-site': 'cross-site' }],
])('refuses a request with %s', async (_title, headers) => {
  const response = await handlerOf(['https://app.test'])(history(headers));

  expect(response.status).toBe(403);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
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
  const request = new Request('http://chat.test/api/chat', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.test', 'access-control-request-headers': 'content-type, x-key' },
  });

  const response = await handlerOf(['https://app.test'])(request);

  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toBe('content-type, x-key');
});

test('refuses the preflight request of another origin', async () => {
  const request = new Request('http://chat.test/api/chat', {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.test' },
  });

  expect((await handlerOf([])(request)).status).toBe(403);
});
