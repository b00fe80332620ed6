import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk } from '../../transport/authorization.js';
import type { Sdk } from '../sdk.js';
import { ClientV2 } from './client.js';

type SdkV2 = typeof import('@modelcontextprotocol/client');

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    return {
      revisions: ['2025-11-25', '2026-07-28'],
      createClient: (transport, options) => new ClientV2(sdk, transport, options),
      loadAuth: async () => ({
        auth: sdk.auth as AuthSdk['auth'],
        challengeIn: (refused, granted) => challengeIn(sdk, refused, granted),
      }),
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/client', error);
  }
}

function challengeIn(sdk: SdkV2, refused: Response, granted: string | undefined) {
  const { error, scope, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(refused);
  if (error !== 'insufficient_scope') return { scope, resourceMetadataUrl };
  // A refreshed token would have the old scope.
  const wider = sdk.computeScopeUnion(granted, scope);
  return { scope: wider, resourceMetadataUrl, forceReauthorization: sdk.isStrictScopeSuperset(wider, granted) };
}
