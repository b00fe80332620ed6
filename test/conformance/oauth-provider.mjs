import { discoverOAuthServerInfo } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';

/** @typedef {import('@modelcontextprotocol/sdk/client/auth.js').OAuthClientProvider} OAuthClientProvider */

/** The document that an authorization server may take in the place of a registration. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/**
 * The OAuth side of a host: it keeps what it is given in memory, and a page of the authorization server is "opened" by
 * following its redirect.
 * @implements {OAuthClientProvider}
 */
class BrowserlessProvider {
  redirectUrl = 'http://localhost:3000/callback';
  clientMetadataUrl = CLIENT_METADATA_URL;
  clientMetadata = {
    client_name: 'keelson',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  /** @type {Record<string, any>} */
  kept = {};

  /** @param {{ client_id: string, client_secret: string } | undefined} registered */
  constructor(registered) {
    this.kept.client = registered;
  }

  clientInformation() {
    return this.kept.client;
  }

  /** @param {unknown} client */
  saveClientInformation(client) {
    this.kept.client = client;
  }

  tokens() {
    return this.kept.tokens;
  }

  /** @param {unknown} tokens */
  saveTokens(tokens) {
    this.kept.tokens = tokens;
  }

  codeVerifier() {
    return this.kept.verifier;
  }

  /** @param {string} verifier */
  saveCodeVerifier(verifier) {
    this.kept.verifier = verifier;
  }

  /** @param {URL} url */
  async redirectToAuthorization(url) {
    const response = await fetch(url, { redirect: 'manual' });
    const location = new URL(response.headers.get('location') ?? '', url);
    this.kept.code = location.searchParams.get('code');
  }
}

const GRANT = 'urn:ietf:params:oauth:grant-type';
const TOKEN = 'urn:ietf:params:oauth:token-type';

/** Access that the user's organization grants: its identity provider gives an assertion for the authorization server. */
class EnterpriseProvider extends ClientCredentialsProvider {
  /**
   * @param {string} server
   * @param {Record<string, any>} context
   */
  constructor(server, context) {
    super({ clientId: context.client_id, clientSecret: context.client_secret });
    this.server = server;
    this.context = context;
  }

  /**
   * @override
   * @returns {any}
   */
  prepareTokenRequest() {
    return this.exchange();
  }

  async exchange() {
    const { idp_token_endpoint: endpoint, idp_client_id: clientId, idp_id_token: idToken } = this.context;
    const { authorizationServerUrl: audience } = await discoverOAuthServerInfo(this.server);
    const body = new URLSearchParams({
      ...{ grant_type: `${GRANT}:token-exchange`, requested_token_type: `${TOKEN}:id-jag` },
      ...{ subject_token: idToken, subject_token_type: `${TOKEN}:id_token` },
      ...{ client_id: clientId, audience: String(audience), resource: this.server },
    });
    const response = await fetch(endpoint, { method: 'POST', body });
    const { access_token: assertion } = /** @type {{ access_token: string }} */ (await response.json());
    return new URLSearchParams({ grant_type: `${GRANT}:jwt-bearer`, assertion });
  }
}

/**
 * How the client authorizes in a scenario.
 * @param {string} scenario
 * @param {string} server
 * @param {Record<string, any>} context
 */
export function createOAuth(scenario, server, context) {
  if (scenario === 'auth/cross-app-access-complete-flow') return { provider: new EnterpriseProvider(server, context) };
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (scenario === 'auth/client-credentials-jwt') {
    return { provider: new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm }) };
  }
  if (scenario === 'auth/client-credentials-basic') {
    return { provider: new ClientCredentialsProvider({ clientId, clientSecret }) };
  }
  const registered = clientId === undefined ? undefined : { client_id: clientId, client_secret: clientSecret };
  const provider = new BrowserlessProvider(registered);
  return { provider, code: () => provider.kept.code };
}
