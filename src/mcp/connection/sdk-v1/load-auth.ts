import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk } from '../sdk.js';

/** Imports the OAuth client of the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadAuth(): Promise<AuthSdk> {
  try {
    const { auth, extractWWWAuthenticateParams } = await import('@modelcontextprotocol/sdk/client/auth.js');
    return { auth: auth as AuthSdk['auth'], challengeIn: extractWWWAuthenticateParams };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}
