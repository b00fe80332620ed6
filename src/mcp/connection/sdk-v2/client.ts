import type { Client, ClientContext, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client';
import { KeelsonError } from '../../../errors.js';
import { MAX_TIMER_MS } from '../../../internal/clock.js';
import { isObject } from '../../../internal/json.js';
import { Stop } from '../../../internal/stop.js';
import type { AuthSdk } from '../../transport/authorization.js';
import type { JsonRpcMessage } from '../../transport/json-rpc.js';
import { isStateless, type McpTransport } from '../../transport/transport.js';
import { AnswerServer } from '../answer-server.js';
import type { ConnectionOptions, McpAnswer, McpParams, McpRevision, SdkRequestOptions } from '../sdk.js';
import { HeaderTools } from './header-tools.js';
import { followTools } from './subscription.js';
import { finishTask } from './task.js';

/** One SDK of the protocol. There is a folder for each. */
export interface Sdk {
  readonly revisions: readonly McpRevision[];
  /** A schema that accepts every result. Keelson accepts more than the schemas of the SDK do. */
  readonly anyResult: StandardSchemaV1<unknown, { [name: string]: unknown }>;
  newClient(options: ConnectionOptions, revision: McpRevision | 'auto'): Client;
  loadAuth(): Promise<AuthSdk>;
}

export interface SdkChoice {
  readonly sdk: Sdk;
  readonly transport: McpTransport;
  readonly revision: McpRevision | 'auto';
}

/** Asks a server without sessions for its log messages of this level and above. They come along with its answers. */
const LOG_LEVEL = { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } };

interface ClientOptions extends ConnectionOptions {
  readonly onError: (error: unknown) => void;
  readonly onClose: () => void;
}

/** The client of either SDK for one transport. Its requests have no time limit. */
export class ProtocolClient {
  private readonly client: Client;
  private readonly answers: AnswerServer;
  private readonly tools: HeaderTools;
  private readonly closing = new Stop();
  /** True if the server speaks a revision without sessions, which is 2026-07-28 or later. */
  private isStateless = false;
  /** The end of the time for which the server guarantees the list of tools. */
  private staleAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly choice: SdkChoice,
    private readonly options: ClientOptions,
  ) {
    const client = choice.sdk.newClient(options, choice.revision);
    const answers = new AnswerServer(options);
    this.client = client;
    this.answers = answers;
    this.tools = new HeaderTools(options);
    client.fallbackNotificationHandler = async ({ method, params }) => answers.notified(method, params);
    client.fallbackRequestHandler = ({ method, params }, context) => answers.asked(method, params, signalOf(context));
    client.onerror = options.onError;
    client.onclose = () => {
      this.closing.stop(undefined);
      options.onClose();
    };
  }

  /** False if the server declares that it has no tools. */
  get hasTools(): boolean {
    return this.client.getServerCapabilities()?.tools !== undefined;
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  async connect(): Promise<void> {
    try {
      await this.client.connect(this.choice.transport, { timeout: MAX_TIMER_MS });
    } catch (error) {
      // Version 2 wraps what the transport throws.
      const { cause } = error as Error;
      throw cause instanceof Error && !(error instanceof KeelsonError) ? cause : withIssues(error);
    }
    if (isStateless(this.choice.transport.protocolVersion)) this.beStateless();
  }

  async request(method: string, params: McpParams, { signal, onProgress }: SdkRequestOptions): Promise<McpAnswer> {
    const options = { signal, timeout: MAX_TIMER_MS, onprogress: onProgress };
    if (!this.isStateless) return this.send(method, params, options);
    const isLogging = this.client.getServerCapabilities()?.logging !== undefined;
    const answer = shownResult(await this.ask(method, isLogging ? { ...params, ...LOG_LEVEL } : params, options));
    this.checkAge(method, params, answer);
    return answer.resultType === 'task' ? this.finish(answer, { signal, onProgress }) : answer;
  }

  /** Receives the complete list of tools. Returns the tools that can be called. */
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
    const { client, closing, answers } = this;
    const { settings, onToolsChanged, onError } = this.options;
    const { sdk, transport } = this.choice;
    const { onmessage } = transport;
    transport.onmessage = (message) => {
      hideResult(message);
      onmessage?.(message);
    };
    for (const method of [settings.elicit && 'elicitation/create', settings.roots && 'roots/list']) {
      if (method === undefined) continue;
      client.setRequestHandler(method, { params: sdk.anyResult }, (params, { mcpReq }) =>
        answers.asked(method, params, mcpReq.signal),
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
    return this.send(method, params, options);
  }

  private send(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer> {
    return this.client.request({ method, params }, this.choice.sdk.anyResult, options);
  }

  private finish(task: McpAnswer, options: SdkRequestOptions): Promise<McpAnswer> {
    const { settings, definition } = this.options;
    return finishTask(task, {
      ...{ ...options, answers: this.answers, clock: settings.system.clock, server: definition.name },
      request: async (method, params, signal) =>
        shownResult(await this.send(method, params, { timeout: MAX_TIMER_MS, ...(signal && { signal }) })),
    });
  }

  /**
   * Notes for how long the server guarantees a list of tools. After that time, the first response reports that the
   * tools may have changed.
   */
  private checkAge(method: string, { cursor }: McpParams, { ttlMs }: McpAnswer): void {
    const now = this.options.settings.system.clock.now();
    if (method === 'tools/list') {
      const end = typeof ttlMs === 'number' && ttlMs > 0 ? now + ttlMs : Number.POSITIVE_INFINITY;
      this.staleAt = cursor === undefined ? end : Math.min(end, this.staleAt);
    } else if (now >= this.staleAt) {
      this.staleAt = Number.POSITIVE_INFINITY;
      this.options.onToolsChanged();
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

/** Returns the signal of a request of the server. Each of the two SDKs has another name for it. */
function signalOf(context: Partial<Pick<ClientContext, 'mcpReq'>> & { readonly signal?: AbortSignal }): AbortSignal {
  return context.mcpReq?.signal ?? context.signal ?? new AbortController().signal;
}
