import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { problemOfUrl } from '../config/server-url.js';
import { McpUnauthorizedError } from '../error.js';

/**
 * The same provider, which sends the user to pages alone. Where that is, the server says: a host that hands it to the
 * system would open a file or start a program as well.
 */
export function safeProvider(provider: OAuthClientProvider, server: string): OAuthClientProvider {
  const redirectToAuthorization = (url: URL) => {
    if (problemOfUrl(url.href) === undefined) return provider.redirectToAuthorization(url);
    throw new McpUnauthorizedError(
      server,
      'it names no page that can be opened: only http: and https: are, without a password.',
    );
  };
  return new Proxy(provider, {
    get(target, key) {
      if (key === 'redirectToAuthorization') return redirectToAuthorization;
      const value: unknown = Reflect.get(target, key, target);
      // A class may have private fields.
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}
