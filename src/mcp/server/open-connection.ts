import { TimeoutExceededError } from '../../errors.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import { isPackageRunner, prepareLaunch, type ServerLaunch } from '../config/launch.js';
import { Connection, redactOf } from '../connection/connection.js';
import { requestError } from '../connection/request-error.js';
import type { ConnectionOptions, McpRevision } from '../connection/sdk.js';
import { loadSdk as loadSdkV1 } from '../connection/sdk-v1/load.js';
import type { Sdk } from '../connection/sdk-v2/client.js';
import { loadSdk as loadSdkV2 } from '../connection/sdk-v2/load.js';
import { McpConnectError, McpRequestError } from '../error.js';
import { prepareChecks } from '../schema/bounded-check.js';
import { ProcessTransport } from '../transport/process-transport.js';
import { SseTransport } from '../transport/sse-transport.js';
import { StreamableTransport } from '../transport/streamable-transport.js';
import { withDeadline } from '../transport/time-limits.js';
import type { McpTransport } from '../transport/transport.js';
import type { ServerContext } from './context.js';
import type { McpConnectStep } from './status.js';
import { type ListedTools, listTools } from './tool-list.js';

export interface Established {
  readonly connection: Connection;
  readonly transport: McpServerDefinition['transport'];
  readonly tools: ListedTools;
}

export interface AttemptOptions extends ServerContext, ConnectionOptions {
  readonly onStep: (step: McpConnectStep) => void;
  /** The program that the trust gate allowed. Undefined if the gate was not asked. */
  readonly trusted: TrustedLaunch | undefined;
  /** Aborts the attempt. A process that was started is ended at once. */
  readonly signal: AbortSignal;
}

/** HTTP status of a successful response that is not an event stream. */
const NO_STREAM = 200;

/**
 * Connects to a server and reads its tools. The time limit is `connectMs`, plus `installMs` for a server that may be
 * installed first. Rejects with a typed error, and then leaves no connection or process open. A connection whose
 * handshake completes after the time limit is closed.
 */
export async function openConnection(options: AttemptOptions): Promise<Established> {
  const { definition, settings, hold, endings, signal } = options;
  const { connectMs, installMs } = settings.timeouts;
  // A package runner that is ended in the middle of an installation may leave a broken package, which no retry repairs.
  const limitMs = installs(definition) ? connectMs + installMs : connectMs;
  const what = `connection to MCP server "${definition.name}"`;
  const limits = { what, callMs: limitMs, totalMs: limitMs, hold, signal };
  const transports: McpTransport[] = [];
  try {
    return await withDeadline(limits, (own) => shakeHands({ ...options, signal: own, transports }));
  } catch (error) {
    if (error instanceof TimeoutExceededError) {
      // The request for the tools has a limit of its own.
      const option = error.what === what && installs(definition) ? 'installMs' : 'connectMs';
      const stderr = transports.at(-1)?.stderr?.() ?? '';
      error.message += ` Raise \`timeouts.${option}\` if the server needs more time.${stderr && ` So far ${stderr}`}`;
    }
    for (const transport of transports) endings.add(transport.close());
    // The error may quote the launch, whose variables are expanded, or the standard error of the program.
    throw redactOf(definition)(error);
  }
}

function installs({ command = '', args }: McpServerDefinition): boolean {
  return isPackageRunner(command, args);
}

interface Attempt extends AttemptOptions {
  readonly sdk: Sdk;
  readonly launch: ServerLaunch;
  /** Every transport of the attempt. A failed attempt closes them. */
  readonly transports: McpTransport[];
}

async function shakeHands(options: AttemptOptions & Pick<Attempt, 'transports'>): Promise<Established> {
  const { definition, settings, signal, trusted } = options;
  const { protocol = 'auto', transport } = definition;
  // The worker starts while the server does.
  prepareChecks();
  const sdk = await loadSdk(protocol);
  const launch = prepareLaunch(definition, trusted, settings);
  signal.throwIfAborted();
  options.onStep(installs(definition) ? 'installing' : 'starting');
  const attempt = { ...options, sdk, launch };
  const isChoosing = protocol === 'auto' && sdk.revisions.includes('2026-07-28');
  const first = protocol === 'auto' ? '2025-11-25' : protocol;
  try {
    // A process is not asked for its revisions, because the request starts servers that start lazily.
    return await establish(attempt, transport, isChoosing && transport === 'http' ? 'auto' : first);
  } catch (error) {
    signal.throwIfAborted();
    if (transport === 'stdio' && isChoosing && revisionsIn(error) !== undefined) {
      return establish(attempt, 'stdio', '2026-07-28').catch((second) => {
        throw revisionsIn(second)?.length ? second : error;
      });
    }
    if (!definition.sseFallback || transport !== 'http' || !isRefusal(error)) throw error;
    return establish(attempt, 'sse', '2025-11-25').catch((second) => {
      // The server refused both transports. The first refusal is reported, since SSE was only a guess.
      throw isRefusal(second) || statusOf(second) === NO_STREAM ? error : second;
    });
  }
}

/**
 * Imports the newest SDK that is installed. Version 2 speaks all revisions. If no installed SDK speaks the revision,
 * rejects with a PackageMissingError that names version 2.
 */
async function loadSdk(revision: McpRevision | 'auto'): Promise<Sdk> {
  try {
    return await loadSdkV2();
  } catch (missing) {
    if (revision === '2026-07-28') throw missing;
    return loadSdkV1().catch(() => Promise.reject(missing));
  }
}

async function establish(
  options: Attempt,
  kind: McpServerDefinition['transport'],
  revision: McpRevision | 'auto',
): Promise<Established> {
  const { definition, settings, signal, endings, sdk, transports } = options;
  const transport = createTransport(options, kind);
  transports.push(transport);
  try {
    const connection = await Connection.open({ sdk, transport, revision }, options);
    options.onStep('listing');
    const tools = await listTools(connection, options, { signal, limitMs: settings.timeouts.connectMs });
    signal.throwIfAborted();
    return { connection, transport: kind, tools };
  } catch (error) {
    endings.add(transport.close());
    // Redacts the strings before they are cut, because the redaction does not find a secret whose end is cut off.
    const redact = redactOf(definition);
    const { ending } = transport;
    // A server may end after it has refused the revision.
    if (ending === undefined || revisionsIn(error) !== undefined) throw requestError(definition.name, redact(error));
    throw new McpConnectError(definition.name, redact(ending), { cause: redact(error) });
  }
}

function createTransport(
  { definition, settings, signal, hold, log, sdk, launch }: Attempt,
  kind: McpServerDefinition['transport'],
): McpTransport {
  const { system, limits, oauth } = settings;
  const common = { server: definition.name, maxBytes: limits.messageBytes, clock: system.clock };
  if (!('url' in launch)) {
    const redact = redactOf(definition);
    const onStderrLine = (line: string) => log.write('debug', `standard error: ${line}`);
    return new ProcessTransport({ ...common, ...launch, signal, spawn: system.spawn, redact, onStderrLine });
  }
  const authorization = oauth?.({ name: definition.name, url: launch.url.href });
  // For some servers of older revisions, the metadata of the authorization server names another issuer.
  const anyIssuer = definition.protocol === '2025-11-25';
  const { loadAuth } = sdk;
  const http = { ...common, ...launch, hold, fetch: system.fetch, oauth: authorization, loadAuth, anyIssuer };
  return kind === 'sse' ? new SseTransport(http) : new StreamableTransport(http);
}

/** Returns true if the server rejected the transport itself, as a server does that knows only an older transport. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
}

function revisionsIn(error: unknown): readonly string[] | undefined {
  return error instanceof McpConnectError ? error.revisions : undefined;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof McpRequestError ? error.status : undefined;
}
