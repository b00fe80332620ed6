import type {
  Client,
  JsonSchemaValidator,
  jsonSchemaValidator,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { PackageMissingError } from '../../../errors.js';
import type { AuthSdk } from '../../transport/authorization.js';
import { identityOf } from '../answer-server.js';
import type { ConnectionOptions, McpRevision } from '../sdk.js';
import type { Sdk } from './client.js';
import { TASKS } from './task.js';

type SdkV2 = typeof import('@modelcontextprotocol/client');

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    return {
      revisions: ['2025-11-25', '2026-07-28'],
      anyResult,
      newClient: (options, revision) => newClient(sdk, options, revision),
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

const MODES: Readonly<Record<McpRevision | 'auto', VersionNegotiationMode>> = {
  auto: 'auto',
  '2025-11-25': 'legacy',
  '2026-07-28': { pin: '2026-07-28' },
};

/** A schema that accepts every value. Keelson accepts more results and questions than the schemas of the SDK do. */
const anyResult: Sdk['anyResult'] = {
  '~standard': {
    version: 1,
    vendor: 'keelson',
    validate: (value) => ({ value: value as { [name: string]: unknown } }),
  },
};

/** Keelson checks structured content in a worker with a time limit. */
const unchecked: jsonSchemaValidator = {
  getValidator: <T>() => ((data: T) => ({ valid: true, data, errorMessage: undefined })) as JsonSchemaValidator<T>,
};

const MOST_RESOURCES = 32;
function newClient(sdk: SdkV2, options: ConnectionOptions, revision: McpRevision | 'auto'): Client {
  const { info, capabilities } = identityOf(options);
  return new sdk.Client(info, {
    capabilities: { ...capabilities, ...(revision !== '2025-11-25' && TASKS) },
    jsonSchemaValidator: unchecked,
    responseCacheStore: new sdk.InMemoryResponseCacheStore({ maxEntries: MOST_RESOURCES }),
    versionNegotiation: { mode: MODES[revision] },
  });
}
