import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Awaitable } from '../../internal/promise.js';

/** How to authorize at one server. */
export interface McpOAuth {
  /** The SDK's interface: it keeps the tokens, and sends the user to the page of the authorization server. */
  readonly provider: OAuthClientProvider;
  /**
   * Returns the code that the user came back with, after `provider.redirectToAuthorization` was called. Time limits are
   * paused meanwhile. Without it the server stays unavailable until `finishAuthorization` is given the code.
   */
  readonly code?: (() => Awaitable<string>) | undefined;
}
