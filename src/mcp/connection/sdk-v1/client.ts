import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { PackageMissingError } from '../../../errors.js';
import { MAX_TIMER_MS } from '../../../internal/clock.js';
import type { AuthSdk } from '../../transport/authorization.js';
import type { McpTransport } from '../../transport/transport.js';
import { capabilitiesOf } from '../answer-server.js';
import type { McpAnswer, McpParams, Sdk, SdkClient, SdkClientOptions, SdkRequestOptions } from '../sdk.js';

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const sdk = { Client, ResultSchema };
    return {
      revisions: ['2025-11-25'],
      createClient: (transport, options) => new ClientV1(sdk, transport, options),
      loadAuth,
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}

async function loadAuth(): Promise<AuthSdk> {
  // Bundlers tolerate a missing package only if it is imported inside `try`.
  try {
    const { auth, extractWWWAuthenticateParams } = await import('@modelcontextprotocol/sdk/client/auth.js');
    return { auth: auth as AuthSdk['auth'], challengeIn: extractWWWAuthenticateParams };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/sdk', error);
  }
}

interface SdkV1 {
  readonly Client: typeof Client;
  readonly ResultSchema: typeof ResultSchema;
}

/** The client of `@modelcontextprotocol/sdk` 1.x, which speaks the revisions up to 2025-11-25. */
class ClientV1 implements SdkClient {
  private readonly client: Client;

  constructor(
    private readonly sdk: SdkV1,
    private readonly transport: McpTransport,
    { connection, server, onError, onClose }: SdkClientOptions,
  ) {
    const { name, version, title } = connection.settings.clientInfo;
    this.client = new sdk.Client({ name, version, title }, { capabilities: capabilitiesOf(connection) });
    this.client.fallbackNotificationHandler = async ({ method, params }) => server.notified(method, params);
    this.client.fallbackRequestHandler = ({ method, params }, { signal }) => server.asked(method, params, signal);
    this.client.onerror = onError;
    this.client.onclose = onClose;
  }

  get hasTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  connect(): Promise<void> {
    return this.client.connect(this.transport as Transport, { timeout: MAX_TIMER_MS });
  }

  request(method: string, params: McpParams, { signal, onProgress }: SdkRequestOptions): Promise<McpAnswer> {
    const options = { signal, timeout: MAX_TIMER_MS, onprogress: onProgress };
    return this.client.request({ method, params }, this.sdk.ResultSchema, options);
  }

  ping(timeout: number): Promise<unknown> {
    return this.client.ping({ timeout });
  }

  announceRoots(): Promise<void> {
    return this.client.sendRootsListChanged();
  }
}
