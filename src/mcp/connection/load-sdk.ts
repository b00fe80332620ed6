import type { McpRevision, Sdk } from './sdk.js';
import { loadSdk as loadSdkV1 } from './sdk-v1/client.js';
import { loadSdk as loadSdkV2 } from './sdk-v2/load-sdk.js';

/**
 * Imports the newest SDK that is installed, when the first server is connected. Version 2 speaks all revisions. Rejects
 * with a PackageMissingError for version 2 if no SDK is installed that speaks the revision.
 */
export async function loadSdk(revision: McpRevision | 'auto'): Promise<Sdk> {
  try {
    return await loadSdkV2();
  } catch (missing) {
    if (revision === '2026-07-28') throw missing;
    return loadSdkV1().catch(() => Promise.reject(missing));
  }
}
