import { KeelsonError } from '../../errors.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import { prepareLaunch, type ServerLaunch } from '../config/launch.js';
import type { McpSettings } from '../config/settings.js';
import { McpConnectError, McpRequestError, McpUnauthorizedError } from '../error.js';
import { HttpTransport } from '../transport/http-transport.js';
import { ProcessTransport } from '../transport/process-transport.js';
import { withOwnSignal } from '../transport/request-time.js';
import { loadSdk, type McpSdk } from '../transport/sdk.js';
import { Connection, type ConnectionListener, type McpTransport } from './connection.js';
import { requestError } from './failure-text.js';
import { readPages } from './list-pages.js';

/** How a server is connected to. */
export interface HandshakeOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  /** What the gate says is to be started. */
  readonly trusted: TrustedLaunch | undefined;
  readonly listener: ConnectionListener;
  /** Ends it. What was started goes away at once. */
  readonly signal: AbortSignal;
  /** Waits for a person, with the time limits held. */
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onDoubt: () => void;
  /** Is told of each way that is tried. */
  readonly onTransport: (transport: McpTransport) => void;
  /** Keeps the transport that a code is wanted for. */
  readonly onUnauthorized: (transport: HttpTransport) => void;
  /** Is told of what is still going on after the outcome is known. */
  readonly track: (ending: Promise<void>) => void;
  readonly warn: (problem: string) => void;
}

/** A server that is connected to. */
export interface Established {
  readonly connection: Connection;
  readonly transport: McpServerDefinition['transport'];
  /** What it lists as its tools. */
  readonly entries: readonly unknown[];
}

/** The status of a page in the place of a stream of events. */
const NO_STREAM = 200;

/** Connects to a server and reads its tools. Rejects with a typed error, and leaves nothing behind. */
export async function shakeHands(options: HandshakeOptions): Promise<Established> {
  const { definition, settings, signal } = options;
  const sdk = await loadSdk();
  const launch = prepareLaunch(definition, options.trusted, settings);
  signal.throwIfAborted();
  const { transport } = definition;
  try {
    return await establish(options, sdk, { launch, transport });
  } catch (error) {
    if (!definition.sseFallback || transport !== 'http' || !isRefusal(error)) throw error;
    signal.throwIfAborted();
    return establish(options, sdk, { launch, transport: 'sse' }).catch((second) => {
      // It knows neither: what it said first says more, since the second way was a guess.
      throw isRefusal(second) || statusOf(second) === NO_STREAM ? error : second;
    });
  }
}

interface Way {
  readonly launch: ServerLaunch;
  readonly transport: McpServerDefinition['transport'];
}

async function establish(options: HandshakeOptions, sdk: McpSdk, way: Way): Promise<Established> {
  const { signal, listener, track } = options;
  const transport = createTransport(options, sdk, way);
  options.onTransport(transport);
  const onAbort = () => track(transport.close());
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const connection = await Connection.open(sdk, transport, listener);
    const entries = await readTools(connection, options);
    signal.throwIfAborted();
    return { connection, entries, transport: way.transport };
  } catch (error) {
    track(transport.close());
    if (error instanceof McpUnauthorizedError && transport instanceof HttpTransport) options.onUnauthorized(transport);
    throw signal.aborted ? signal.reason : connectError(options.definition.name, transport, error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function createTransport(options: HandshakeOptions, sdk: McpSdk, { launch, transport }: Way): McpTransport {
  const { definition, settings, signal, hold, onDoubt } = options;
  const { system, limits, oauth } = settings;
  const common = { server: definition.name, sdk, maxBytes: limits.messageBytes, clock: system.clock };
  if (!('url' in launch)) return new ProcessTransport({ ...common, ...launch, signal, spawn: system.spawn });
  const { url, headers } = launch;
  return new HttpTransport({
    ...{ ...common, url, headers, hold, onDoubt, fetch: system.fetch },
    kind: transport === 'sse' ? 'sse' : 'http',
    oauth: oauth?.({ name: definition.name, url: url.href }),
  });
}

function readTools(connection: Connection, { settings, signal, warn }: HandshakeOptions): Promise<readonly unknown[]> {
  if (connection.capabilities.tools === undefined) return Promise.resolve([]);
  return readPages({
    ...{ method: 'tools/list', field: 'tools', warn },
    ...{ maxEntries: settings.limits.tools, maxPages: settings.limits.pages },
    // The SDK leaves a listener on the signal that it is given.
    request: (method, params) => withOwnSignal(signal, (own) => connection.request({ method, params, signal: own })),
  });
}

/** An older server does not know the way that was tried. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof McpRequestError ? error.status : undefined;
}

function connectError(server: string, transport: McpTransport, error: unknown): KeelsonError {
  if (error instanceof KeelsonError) return error;
  if (transport.ending !== undefined) return new McpConnectError(server, transport.ending, { cause: error });
  return requestError(server, error);
}
