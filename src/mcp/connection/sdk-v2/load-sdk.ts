import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk, Sdk } from '../sdk.js';
import { ClientV2 } from './client.js';

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  const sdk = await load();
  return {
    revisions: ['2025-11-25', '2026-07-28'],
    createClient: (transport, options) => new ClientV2(sdk, transport, options),
  };
}

/** Imports the OAuth client of the SDK, which binds tokens to their issuer. Rejects as `loadSdk` does. */
export async function loadAuth(): Promise<AuthSdk> {
  const { auth, computeScopeUnion, extractWWWAuthenticateParams, isStrictScopeSuperset } = await load();
  return {
    auth: auth as AuthSdk['auth'],
    challengeIn(refused, granted) {
      const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
      if (error !== 'insufficient_scope') return { scope, resourceMetadataUrl };
      // A refreshed token would have the old scope.
      const wider = computeScopeUnion(granted, scope);
      return { scope: wider, resourceMetadataUrl, forceReauthorization: isStrictScopeSuperset(wider, granted) };
    },
  };
}

async function load() {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/client', error);
  }
}
