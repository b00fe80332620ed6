import type {
  Client,
  ClientContext,
  JsonSchemaValidator,
  jsonSchemaValidator,
  RequestOptions,
  StandardSchemaV1,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { KeelsonError, PackageMissingError } from '../../../errors.js';
import { MAX_TIMER_MS } from '../../../internal/clock.js';
import { isObject } from '../../../internal/json.js';
import { Stop } from '../../../internal/stop.js';
import type { AuthSdk } from '../../transport/authorization.js';
import type { JsonRpcMessage } from '../../transport/json-rpc.js';
import { isStateless, type McpTransport } from '../../transport/transport.js';
import { identityOf } from '../answer-server.js';
import type { McpAnswer, McpParams, Sdk, SdkClient, SdkClientOptions, SdkRequestOptions } from '../sdk.js';
import { HeaderTools } from './header-tools.js';
import { followTools } from './subscription.js';
import { finishTask, TASKS } from './task.js';

type SdkV2 = typeof import('@modelcontextprotocol/client');

/** Imports the SDK. Rejects with a PackageMissingError if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    return {
      revisions: ['2025-11-25', '2026-07-28'],
      createClient: (transport, options) => new ProtocolClient(newClient(sdk, options), transport, options),
      loadAuth: async () => ({
        auth: sdk.auth as AuthSdk['auth'],
        challengeIn: (refused, granted) => challengeIn(sdk, refused, granted),
      }),
    };
  } catch (error) {
    throw new PackageMissingError('@modelcontextprotocol/client', error);
  }
}

function challengeIn(sdk: SdkV2, refused: Response, granted: string | undefined) {
  const { error, scope, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(refused);
  if (error !== 'insufficient_scope') return { scope, resourceMetadataUrl };
  // A refreshed token would have the old scope.
  const wider = sdk.computeScopeUnion(granted, scope);
  return { scope: wider, resourceMetadataUrl, forceReauthorization: sdk.isStrictScopeSuperset(wider, granted) };
}

/** Version 1 puts the signal of a request in another place. */
function signalOf(context: Partial<Pick<ClientContext, 'mcpReq'>> & { readonly signal?: AbortSignal }): AbortSignal {
  return context.mcpReq?.signal ?? context.signal ?? new AbortController().signal;
}

const MODES: Readonly<Record<SdkClientOptions['revision'], VersionNegotiationMode>> = {
  auto: 'auto',
  '2025-11-25': 'legacy',
  '2026-07-28': { pin: '2026-07-28' },
};

/** A schema that accepts every value. Keelson accepts more results and questions than the schemas of the SDK do. */
const any: StandardSchemaV1<unknown, { [name: string]: unknown }> = {
  '~standard': {
    version: 1,
    vendor: 'keelson',
    validate: (value) => ({ value: value as { [name: string]: unknown } }),
  },
};

/** Keelson checks structured content in a worker with a time limit. */
const unchecked: jsonSchemaValidator = {
  getValidator: <T>() => ((data: T) => ({ valid: true, data, errorMessage: undefined })) as JsonSchemaValidator<T>,
};

const MOST_RESOURCES = 32;
/** A log message of this level or above is sent along with the answer to a request. */
const LOG_LEVEL = { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } };

function newClient(sdk: SdkV2, { connection, revision }: SdkClientOptions): Client {
  const { info, capabilities } = identityOf(connection);
  return new sdk.Client(info, {
    capabilities: { ...capabilities, ...(revision !== '2025-11-25' && TASKS) },
    jsonSchemaValidator: unchecked,
    responseCacheStore: new sdk.InMemoryResponseCacheStore({ maxEntries: MOST_RESOURCES }),
    versionNegotiation: { mode: MODES[revision] },
  });
}

/** The client of either SDK. Only a client of version 2 speaks a revision without sessions. */
export class ProtocolClient implements SdkClient {
  private readonly tools: HeaderTools;
  private readonly closing = new Stop();
  /** True if the server speaks a revision without sessions, which is 2026-07-28 or later. */
  private isStateless = false;
  /** The time at which the server no longer guarantees the list of tools. */
  private staleAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly client: Client,
    private readonly transport: McpTransport,
    private readonly options: SdkClientOptions,
    /** The schema of the results. */
    private readonly results = any,
  ) {
    const { connection, server, onError, onClose } = options;
    this.tools = new HeaderTools(connection);
    client.fallbackNotificationHandler = async ({ method, params }) => server.notified(method, params);
    client.fallbackRequestHandler = ({ method, params }, context) => server.asked(method, params, signalOf(context));
    client.onerror = onError;
    client.onclose = () => {
      this.closing.stop(undefined);
      onClose();
    };
  }

  get hasTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  async connect(): Promise<void> {
    try {
      await this.client.connect(this.transport, { timeout: MAX_TIMER_MS });
    } catch (error) {
      // Version 2 wraps what the transport throws.
      const { cause } = error as Error;
      throw cause instanceof Error && !(error instanceof KeelsonError) ? cause : withIssues(error);
    }
    if (isStateless(this.transport.protocolVersion)) this.beStateless();
  }

  async request(method: string, params: McpParams, { signal, onProgress }: SdkRequestOptions): Promise<McpAnswer> {
    const options = { signal, timeout: MAX_TIMER_MS, onprogress: onProgress };
    if (!this.isStateless) return this.client.request({ method, params }, this.results, options);
    const isLogging = this.client.getServerCapabilities()?.logging !== undefined;
    const answer = shownResult(await this.ask(method, isLogging ? { ...params, ...LOG_LEVEL } : params, options));
    this.checkAge(method, params, answer);
    return answer.resultType === 'task' ? this.finish(answer, { signal, onProgress }) : answer;
  }

  listed(tools: readonly unknown[]): readonly unknown[] {
    return this.isStateless ? this.tools.list(tools) : tools;
  }

  ping(timeout: number): Promise<unknown> {
    return this.isStateless ? this.client.discover({ timeout }) : this.client.ping({ timeout });
  }

  /** Notifies only a server with sessions: a stateless server asks for the roots when it needs them. */
  async announceRoots(): Promise<void> {
    if (!this.isStateless) await this.client.sendRootsListChanged();
  }

  private beStateless(): void {
    this.isStateless = true;
    const { transport, client, closing } = this;
    const { connection, server, onError } = this.options;
    const { settings, onToolsChanged } = connection;
    const { onmessage } = transport;
    transport.onmessage = (message) => {
      hideResult(message);
      onmessage?.(message);
    };
    for (const method of [settings.elicit && 'elicitation/create', settings.roots && 'roots/list']) {
      if (method === undefined) continue;
      client.setRequestHandler(method, { params: any }, (params, { mcpReq }) =>
        server.asked(method, params, mcpReq.signal),
      );
    }
    if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
    const { clock } = settings.system;
    void followTools(client, { clock, closed: closing.signal, onChange: onToolsChanged, onError });
  }

  private ask(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer> {
    const toolDefinition = method === 'tools/call' ? this.tools.find(params.name) : undefined;
    if (toolDefinition !== undefined) {
      return this.client.callTool(params as { name: string }, { ...options, toolDefinition });
    }
    // The SDK remembers resources for the time that the server allows.
    if (method === 'resources/read') return this.client.readResource(params as { uri: string }, options);
    return this.client.request({ method, params }, any, options);
  }

  private finish(task: McpAnswer, options: SdkRequestOptions): Promise<McpAnswer> {
    const { connection, server: answers } = this.options;
    const { clock } = connection.settings.system;
    return finishTask(task, {
      ...{ ...options, answers, clock, server: connection.definition.name },
      request: async (method, params, signal) =>
        shownResult(
          await this.client.request({ method, params }, any, { timeout: MAX_TIMER_MS, ...(signal && { signal }) }),
        ),
    });
  }

  /**
   * Reports that the tools may have changed, with the first response after the end of the time for which the server
   * guarantees the list.
   */
  private checkAge(method: string, { cursor }: McpParams, { ttlMs }: McpAnswer): void {
    const now = this.options.connection.settings.system.clock.now();
    if (method === 'tools/list') {
      const end = typeof ttlMs === 'number' && ttlMs > 0 ? now + ttlMs : Number.POSITIVE_INFINITY;
      this.staleAt = cursor === undefined ? end : Math.min(end, this.staleAt);
    } else if (now >= this.staleAt) {
      this.staleAt = Number.POSITIVE_INFINITY;
      this.options.connection.onToolsChanged();
    }
  }
}

/** For each method, an empty result that the SDK accepts. */
const EMPTY = {
  resultType: 'complete',
  ...{ tools: [], resources: [], resourceTemplates: [], prompts: [], content: [], contents: [], messages: [] },
};

/**
 * Replaces the result of a message by an empty result that carries the real one in a field, so that the SDK does not
 * check it. The SDK would refuse a whole list for one invalid entry, and a whole result for content of an unknown type.
 * Questions to the user and the list of revisions stay in place, since the SDK reads them.
 */
function hideResult(message: JsonRpcMessage): void {
  if (!('result' in message)) return;
  const { result } = message;
  const { resultType, supportedVersions, ttlMs, cacheScope } = result;
  if (resultType === 'input_required' || supportedVersions !== undefined) return;
  const lifetime = Number.isSafeInteger(ttlMs) && Number(ttlMs) > 0 ? { ttlMs, cacheScope: 'private' } : NO_LIFETIME;
  const scope = cacheScope === 'public' ? { cacheScope } : {};
  Object.assign(message, { result: { ...EMPTY, ...lifetime, ...scope, hidden: result } });
}

const NO_LIFETIME = { ttlMs: 0, cacheScope: 'private' };

function shownResult(answer: McpAnswer): McpAnswer {
  return isObject(answer.hidden) ? answer.hidden : answer;
}

/** Adds the mismatches of an invalid result to its error. The SDK writes them into the message as JSON. */
function withIssues(error: unknown): unknown {
  const [, json] = /^Invalid result for [^:]+: (\[[\s\S]+\])$/.exec((error as Error).message) ?? [];
  return json === undefined ? error : Object.assign(error as Error, { issues: JSON.parse(json) });
}
