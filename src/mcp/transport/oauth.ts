import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { OAuthClientProvider as OAuthClientProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Awaitable } from '../../internal/promise.js';

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
