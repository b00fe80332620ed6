import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk } from '../sdk.js';

/** Imports the OAuth client of the SDK. It binds tokens to their issuer. Rejects as `loadSdk` does. */
export async function loadAuth(): Promise<AuthSdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    return { auth: sdk.auth as AuthSdk['auth'], challengeIn: (refused, granted) => challengeIn(sdk, refused, granted) };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/client', error);
  }
}

function challengeIn(
  {
    computeScopeUnion,
    extractWWWAuthenticateParams,
    isStrictScopeSuperset,
  }: typeof import('@modelcontextprotocol/client'),
  refused: Response,
  granted: string | undefined,
) {
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
  if (error !== 'insufficient_scope') return { scope, resourceMetadataUrl };
  // A refreshed token would have the old scope.
  const wider = computeScopeUnion(granted, scope);
  return { scope: wider, resourceMetadataUrl, forceReauthorization: isStrictScopeSuperset(wider, granted) };
}
