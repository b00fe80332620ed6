import { discoverOAuthServerInfo } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { context, isNew, scenario, url } from './scenario.mjs';

/** @typedef {import('@modelcontextprotocol/sdk/client/auth.js').OAuthClientProvider} OAuthClientProvider */

/** URL of the client metadata that an authorization server may accept instead of a registration. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/**
 * The OAuth provider of a host without a browser. It stores its data in memory, and follows the redirect of the
 * authorization page to get the code.
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
  stored = {};

  /** @param {{ client_id: string, client_secret: string } | undefined} registered */
  constructor(registered) {
    this.stored.client = registered;
    if (!isNew) return;
    // The suite of 2026-07-28 checks that credentials stay with the authorization server that was found first.
    this.discoveryState = () => this.stored.discovery;
    this.saveDiscoveryState = (/** @type {unknown} */ state) => void Object.assign(this.stored, { discovery: state });
  }

  clientInformation() {
    return this.stored.client;
  }

  /** @param {unknown} client */
  saveClientInformation(client) {
    this.stored.client = client;
  }

  tokens() {
    return this.stored.tokens;
  }

  /** @param {unknown} tokens */
  saveTokens(tokens) {
    this.stored.tokens = tokens;
  }

  codeVerifier() {
    return this.stored.verifier;
  }

  /** @param {string} verifier */
  saveCodeVerifier(verifier) {
    this.stored.verifier = verifier;
  }

  /** @param {URL} url */
  async redirectToAuthorization(url) {
    const response = await fetch(url, { redirect: 'manual' });
    // The parameters also name the issuer of the code.
    this.stored.code = new URL(response.headers.get('location') ?? '', url).searchParams;
  }

  /** @param {string} scope */
  invalidateCredentials(scope) {
    if (scope === 'all' || scope === 'discovery') this.stored.discovery = undefined;
    if (scope === 'all' || scope === 'client') this.stored.client = undefined;
    if (scope === 'all' || scope === 'tokens') this.stored.tokens = undefined;
  }
}

const GRANT = 'urn:ietf:params:oauth:grant-type';
const TOKEN = 'urn:ietf:params:oauth:token-type';

/** Authorizes through the identity provider of an organization, which issues an assertion for the authorization server. */
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

/** Returns the OAuth configuration for the scenario. */
export function createOAuth() {
  if (scenario === 'auth/cross-app-access-complete-flow' || scenario === 'auth/enterprise-managed-authorization') {
    return { provider: new EnterpriseProvider(url, context) };
  }
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (scenario === 'auth/client-credentials-jwt') {
    return { provider: new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm }) };
  }
  if (scenario === 'auth/client-credentials-basic') {
    return { provider: new ClientCredentialsProvider({ clientId, clientSecret }) };
  }
  const registered = clientId === undefined ? undefined : { client_id: clientId, client_secret: clientSecret };
  const provider = new BrowserlessProvider(registered);
  return { provider, code: () => provider.stored.code };
}
