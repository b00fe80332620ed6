import type { AuthSdk, McpRevision, Sdk } from './sdk.js';
import * as v1 from './sdk-v1/load-sdk.js';
import * as v2 from './sdk-v2/load-sdk.js';

/**
 * Imports the newest SDK that is installed, when the first server is connected. Version 2 speaks all revisions. Rejects
 * with a PackageMissingError if no SDK is installed that speaks the revision.
 */
export async function loadSdk(revision: McpRevision | 'auto'): Promise<Sdk> {
  try {
    return await v2.loadSdk();
  } catch (error) {
    if (revision === '2026-07-28') throw error;
    return v1.loadSdk();
  }
}

/** Imports the OAuth client of the newest SDK that is installed. Rejects with a PackageMissingError if there is none. */
export function loadAuth(): Promise<AuthSdk> {
  return v2.loadAuth().catch(v1.loadAuth);
}
