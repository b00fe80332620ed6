import { PackageMissingError } from '../../../errors.js';
import type { Sdk } from '../sdk.js';
import { ClientV1 } from './client.js';

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const sdk = { Client, ResultSchema };
    return {
      revisions: ['2025-11-25'],
      createClient: (transport, options) => new ClientV1(sdk, transport, options),
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}
