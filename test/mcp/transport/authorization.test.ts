import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { answer, handServer, reply } from '../../support/mcp/http-server.js';
import { call, connected } from '../../support/mcp/lab.js';

describe('authorization', () => {
  /** Creates an OAuth provider that stores tokens in memory and records the opened pages. */
  function provider(): OAuthClientProvider & { readonly opened: URL[]; granted: string | undefined } {
    const opened: URL[] = [];
    let verifier = '';
    return {
      opened,
      granted: undefined,
      redirectUrl: 'http://localhost/callback',
      clientMetadata: { redirect_uris: ['http://localhost/callback'] },
      clientInformation: () => ({ client_id: 'me' }),
      tokens() {
        return this.granted === undefined ? undefined : { access_token: this.granted, token_type: 'Bearer' };
      },
      saveTokens(tokens) {
        this.granted = tokens.access_token;
      },
      redirectToAuthorization: (url) => void opened.push(url),
      codeVerifier: () => verifier,
      saveCodeVerifier: (text) => {
        verifier = text;
      },
    };
  }

  /** Starts a server that issues one token, and accepts requests for which `accepts` returns true. */
  function guarded(accepts: (token: string | undefined) => boolean, page?: string) {
    return handServer((request, response) => {
      const origin = `http://${request.headers.host}`;
      if (request.path.startsWith('/.well-known/oauth-protected-resource')) {
        reply(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      } else if (request.path.startsWith('/.well-known')) {
        reply(response, {
          ...{
            issuer: origin,
            authorization_endpoint: page ?? `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
          },
          ...{ response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
        });
      } else if (request.path === '/token') reply(response, { access_token: 'good', token_type: 'Bearer' });
      else if (accepts(request.headers.authorization)) answer(request, response);
      else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('no');
      return true;
    });
  }

  test('attempts an authorization at most three times', async () => {
    const server = await guarded(() => false);
    const own = provider();
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url } },
      oauth: () => ({ provider: own, code: () => 'x' }),
    });

    expect(own.opened.length).toBeLessThanOrEqual(3);
    expect(own.opened.length).toBeGreaterThanOrEqual(1);
    expect(mcp.status()).toMatchObject([
      { state: 'unavailable', lastError: expect.stringMatching(/authorization|401/) },
    ]);
  });

  test('completes an authorization later with the code', async () => {
    const server = await guarded((token) => token === 'Bearer good');
    const own = provider();
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url } },
      oauth: () => ({ provider: own }),
    });
    expect(mcp.status()).toMatchObject([
      { state: 'unavailable', lastError: expect.stringContaining('the user must grant it') },
    ]);
    expect(own.opened).toHaveLength(1);

    await mcp.server('a').finishAuthorization('the code');

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
    expect(await rejectionOf(mcp.server('a').finishAuthorization('again'))).toMatchObject({
      code: 'ERR_MCP_UNAVAILABLE',
    });
  });

  test('uses the OAuth provider, and pauses time limits while the user decides', async () => {
    const server = await guarded((token) => token === 'Bearer good');
    const own = provider();
    const clock = fakeClock();
    const code = () => {
      clock.advance(2_100);
      return 'the code';
    };
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url } },
      oauth: ({ name, url }) => (name === 'a' && url === server.url ? { provider: own, code } : undefined),
      timeouts: { connectMs: 2_000 },
      system: { clock },
    });

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'answered' });
    expect(own.opened.map(({ pathname }) => pathname)).toEqual(['/authorize']);
  });

  test.each(['file:///Applications/Calculator.app', 'vscode://x', 'https://me:pw@example.com/'])(
    'does not redirect the user to %s',
    async (page) => {
      const server = await guarded(() => false, page);
      const own = provider();
      const { mcp } = await connected({
        servers: { a: { type: 'http', url: server.url } },
        oauth: () => ({ provider: own, code: () => 'x' }),
      });

      expect(own.opened).toEqual([]);
      expect(mcp.status()).toMatchObject([
        {
          state: 'unavailable',
          lastError: expect.stringContaining('the URL of its authorization page must begin with http: or https:'),
        },
      ]);
    },
  );

  test('does not send the configured headers to the authorization server', async () => {
    const elsewhere = await handServer((_request, response) => {
      response.writeHead(404).end();
      return true;
    });
    const server = await handServer((request, response) => {
      if (request.path.startsWith('/.well-known'))
        reply(response, { resource: server.url, authorization_servers: [elsewhere.origin] });
      else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    });
    await connected({
      servers: { a: { type: 'http', url: server.url, headers: { 'X-Key': 'secret' } } },
      oauth: () => ({ provider: provider(), code: () => 'x' }),
    });

    expect(elsewhere.seen.length).toBeGreaterThan(0);
    expect(elsewhere.seen.filter(({ headers }) => headers['x-key'])).toEqual([]);
  });

  test('authorizes once for calls that are refused at the same time', async () => {
    let takesNone = false;
    const server = await guarded((token) => token === 'Bearer good' && !takesNone);
    const own = provider();
    own.granted = 'good';
    const { mcp } = await connected({
      servers: { a: { type: 'http', url: server.url } },
      oauth: () => ({
        provider: own,
        code: () => {
          takesNone = false;
          return 'x';
        },
      }),
    });
    takesNone = true;

    const results = await Promise.all([call(mcp, 'echo'), call(mcp, 'echo'), call(mcp, 'echo')]);

    expect(results.map(({ content }) => content)).toEqual(['answered', 'answered', 'answered']);
    expect(own.opened).toHaveLength(1);
  });
});
