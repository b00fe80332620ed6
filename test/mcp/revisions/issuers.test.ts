import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpOAuth } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { call, connected } from '../../support/mcp/lab.js';
import { bareServerOverHttp } from '../../support/mcp/new-servers.js';

/** Creates an OAuth provider that stores everything in memory. */
function createProvider(): OAuthClientProvider & { readonly stored: Record<string, unknown> } {
  const stored: Record<string, unknown> = { client: { client_id: 'me' } };
  return {
    stored,
    redirectUrl: 'http://localhost/callback',
    clientMetadata: { redirect_uris: ['http://localhost/callback'] },
    clientInformation: () => stored.client as never,
    saveClientInformation: (client) => void Object.assign(stored, { client }),
    tokens: () => stored.tokens as never,
    saveTokens: (tokens) => void Object.assign(stored, { tokens }),
    redirectToAuthorization: (page) => void Object.assign(stored, { page }),
    codeVerifier: () => String(stored.verifier),
    saveCodeVerifier: (verifier) => void Object.assign(stored, { verifier }),
    discoveryState: () => stored.discovery as never,
    saveDiscoveryState: (discovery) => void Object.assign(stored, { discovery }),
  };
}

/** Connects to a server that wants an authorization. Its authorization server names itself with each code. */
async function open(code?: (issuer: string) => string | URLSearchParams, config: object = {}) {
  const { url } = await bareServerOverHttp({ token: 'good', ...config });
  const issuer = new URL(url).origin;
  const provider = createProvider();
  const oauth: McpOAuth = { provider, code: code && (() => code(issuer)) };
  const { mcp } = await connected({ servers: { a: { url, type: 'http' } }, oauth: () => oauth });
  return { mcp, provider, issuer };
}

const withIssuer = (iss: string) => new URLSearchParams({ code: 'x', iss });

test('a code with the right issuer is accepted, and the tokens are bound to the issuer', async () => {
  const { mcp, provider, issuer } = await open(withIssuer);

  expect(mcp.status()[0]).toMatchObject({ state: 'connected', protocolVersion: '2026-07-28' });
  expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
  expect(provider.stored).toMatchObject({ tokens: { issuer }, client: { issuer } });
});

test.each([
  ['another issuer', () => withIssuer('https://evil.example.com')],
  ['no issuer', () => 'x'],
])('a code with %s is refused before it is sent', async (_title, code) => {
  const { mcp, provider } = await open(code);

  expect(mcp.status()[0]?.state).toBe('unavailable');
  expect(mcp.status()[0]?.lastError).toContain('Issuer mismatch in authorization response');
  expect(provider.stored.tokens).toBeUndefined();
});

test('an authorization server whose metadata name another issuer is refused', async () => {
  const { mcp, provider } = await open(withIssuer, { issuer: 'https://evil.example.com' });

  expect(mcp.status()[0]?.lastError).toContain('Issuer mismatch in authorization server metadata');
  expect(provider.stored.page).toBeUndefined();
});

test('`finishAuthorization` takes all parameters of the URL that the user was sent back to', async () => {
  const { mcp, issuer } = await open();
  expect(mcp.status()[0]?.lastError).toContain('pass the code to `finishAuthorization`');

  await mcp.server('a').finishAuthorization(withIssuer(issuer));

  expect(mcp.status()[0]?.state).toBe('connected');
});
