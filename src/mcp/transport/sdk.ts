import { PackageMissingError } from '../../errors.js';

/** What is used of the SDK at run time. Elsewhere only its types are imported. */
export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;

/** The SDK, imported when a server is connected to. Rejects with a PackageMissingError where it is not installed. */
export async function loadSdk() {
  try {
    const [client, http, sse, auth, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/client/sse.js'),
      import('@modelcontextprotocol/sdk/client/auth.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return { ...client, ...http, ...sse, ...auth, ...types };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}
