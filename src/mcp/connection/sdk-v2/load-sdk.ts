import { PackageMissingError } from '../../../errors.js';
import type { Sdk } from '../sdk.js';
import { ClientV2 } from './client.js';

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    return {
      revisions: ['2025-11-25', '2026-07-28'],
      createClient: (transport, options) => new ClientV2(sdk, transport, options),
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/client', error);
  }
}
