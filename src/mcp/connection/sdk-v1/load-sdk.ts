import { PackageMissingError } from '../../../errors.js';

/** The parts of the SDK that are used at run time. Elsewhere only its types are imported. */
export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;

/** Imports the SDK, when a server is connected to. Rejects with a PackageMissingError if it is not installed. */
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
