import type { AuthOptions, auth, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { OAuthClientProvider as OAuthClientProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Awaitable } from '../../internal/promise.js';
import { problemOfUrl } from '../config/server-url.js';
import { McpUnauthorizedError } from '../error.js';
import type { PausableClock } from './time-limits.js';

/** The OAuth configuration for one server. */
export interface McpOAuth {
  /** The provider interface of the SDK. It stores the tokens, and redirects the user to the authorization page. */
  readonly provider: OAuthClientProvider | OAuthClientProviderV1;
  /**
   * Returns the authorization code of the user, or all parameters of the URL that the user was sent back to. The
   * parameters also name the issuer, which some authorization servers require. Called after
   * `provider.redirectToAuthorization`, with time limits paused. Without this function, the server stays unavailable until
   * `finishAuthorization` receives the code.
   */
  readonly code?: (() => Awaitable<string | URLSearchParams>) | undefined;
}

export interface AuthorizationOptions {
  readonly server: string;
  readonly url: URL;
  readonly oauth: McpOAuth;
  readonly loadAuth: () => Promise<AuthSdk>;
  /** True if the metadata of the authorization server may name another issuer than its URL. */
  readonly anyIssuer: boolean;
  readonly hold: PausableClock;
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

type AuthRequest = { readonly [Name in keyof AuthOptions]: AuthOptions[Name] | undefined };

/** The OAuth client of one SDK. */
export interface AuthSdk {
  auth(provider: McpOAuth['provider'], request: AuthRequest): ReturnType<typeof auth>;
  /**
   * Reads a response that asks for an authorization, and returns its demands, such as the scope. `granted` is the scope
   * of the current token.
   */
  challengeIn(
    refused: Response,
    granted: string | undefined,
  ): Pick<AuthRequest, 'scope' | 'resourceMetadataUrl' | 'forceReauthorization'>;
}

/** The user must grant the authorization. `finish` completes it later with the code from the authorization page. */
export class AuthorizationPendingError extends McpUnauthorizedError {
  constructor(
    server: string,
    readonly finish: (code: string | URLSearchParams) => Promise<void>,
  ) {
    super(server, 'the user must grant it; pass the code to `finishAuthorization`.');
  }
}

/** The OAuth authorization of one connection. The SDK implements the protocol; the host stores the tokens. */
export class Authorization {
  round = 0;
  private readonly provider: McpOAuth['provider'];
  private running: Promise<void> | undefined = undefined;

  constructor(private readonly options: AuthorizationOptions) {
    this.provider = onlyToWebPages(options.oauth.provider, options.server);
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const tokens = await this.provider.tokens();
    return tokens ? { authorization: `Bearer ${tokens.access_token}` } : {};
  }

  /** Authorizes after a refused request. Requests that are refused at the same time share one authorization. */
  renew(refused: Response, round: number): Promise<void> {
    if (round !== this.round) return Promise.resolve();
    this.running ??= this.authorize(refused).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async authorize(refused: Response): Promise<void> {
    const { auth, challengeIn } = await this.options.loadAuth();
    const { server, url, fetch: fetchFn, oauth, hold } = this.options;
    const tokens = await this.provider.tokens();
    // A refused token may come from an authorization server that the MCP server no longer uses.
    if (tokens && refused.status === 401) await this.provider.invalidateCredentials?.('discovery');
    const skipIssuerMetadataValidation = this.options.anyIssuer;
    const challenge = challengeIn(refused, tokens?.scope);
    const request = { ...challenge, serverUrl: url, fetchFn, skipIssuerMetadataValidation };
    const finish = async (code: string | URLSearchParams) => {
      const params = typeof code === 'string' ? new URLSearchParams({ code }) : code;
      const [authorizationCode = '', iss] = ['code', 'iss'].map((name) => params.get(name) ?? undefined);
      await auth(this.provider, { ...request, authorizationCode, iss });
    };
    if ((await auth(this.provider, request)) !== 'AUTHORIZED') {
      const { code } = oauth;
      if (code === undefined) throw new AuthorizationPendingError(server, finish);
      await finish(await hold.during(async () => code()));
    }
    this.round += 1;
  }
}

/** Returns the challenge of a response that asks for an authorization. Undefined for any other refusal. */
export function challengeOf({ status, headers }: Response): string | undefined {
  const challenge = headers.get('www-authenticate') ?? '';
  return status === 401 || (status === 403 && /insufficient_scope/.test(challenge))
    ? `${status} ${challenge}`
    : undefined;
}

/**
 * Returns a provider that redirects the user only to web pages. The server chooses the URL, and the host may pass it to the
 * operating system, which would also open files and start programs.
 */
function onlyToWebPages(provider: McpOAuth['provider'], server: string): McpOAuth['provider'] {
  const redirectToAuthorization = (url: URL) => {
    if (problemOfUrl(url.href) === undefined) return provider.redirectToAuthorization(url);
    throw new McpUnauthorizedError(
      server,
      'the URL of its authorization page must begin with http: or https: and have no password.',
    );
  };
  return new Proxy(provider, {
    get(target, key) {
      if (key === 'redirectToAuthorization') return redirectToAuthorization;
      const value: unknown = Reflect.get(target, key, target);
      // The provider may be an instance of a class with private fields.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
