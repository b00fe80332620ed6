import { PackageMissingError } from '../../../errors.js';

/** The exports of the SDK that are used at run time. Other files import only types from the SDK. */
export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;

/** Imports the SDK when the first server is connected. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk() {
  try {
    const [client, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return { ...client, ...types };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}
