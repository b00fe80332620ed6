import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk } from '../../transport/authorization.js';
import { identityOf } from '../answer-server.js';
import type { Sdk } from '../sdk-v2/client.js';

/**
 * Imports `@modelcontextprotocol/sdk` 1.x, which speaks the revisions up to 2025-11-25. Rejects with a
 * PackageMissingError if it is not installed.
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    return {
      revisions: ['2025-11-25'],
      anyResult: ResultSchema as never,
      newClient(options) {
        const { info, capabilities } = identityOf(options);
        // The members that `ProtocolClient` uses are the same in both versions.
        return new Client(info, { capabilities }) as never;
      },
      loadAuth,
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}

async function loadAuth(): Promise<AuthSdk> {
  // Bundlers tolerate a missing package only if it is imported inside `try`.
  try {
    const { auth, extractWWWAuthenticateParams } = await import('@modelcontextprotocol/sdk/client/auth.js');
    return { auth: auth as AuthSdk['auth'], challengeIn: extractWWWAuthenticateParams };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}
