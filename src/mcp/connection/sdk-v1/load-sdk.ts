import { PackageMissingError } from '../../../errors.js';

const PACKAGE = '@modelcontextprotocol/sdk';

/** The exports of the SDK that are used at run time. Other files import only types from the SDK. */
export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;

/** Imports the SDK when the first server is connected. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk() {
  try {
    const client = await import('@modelcontextprotocol/sdk/client/index.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    return { ...client, ...types };
  } catch (error) {
    throw new PackageMissingError(PACKAGE, error);
  }
}

/** Imports the OAuth client of the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadAuth() {
  try {
    return await import('@modelcontextprotocol/sdk/client/auth.js');
  } catch (error) {
    throw new PackageMissingError(PACKAGE, error);
  }
}
