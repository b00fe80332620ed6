import { MAX_TIMER_MS } from '../../internal/clock.js';
import { callable, having, object, required, timerMs } from '../../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../../internal/options/validate.js';
import type { AssistantPart, ContentPart, Message } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Connection } from '../connection/connection.js';
import type { McpList } from '../connection/sdk.js';
import { toPart } from '../tools/result-content.js';
import { withDeadline } from '../transport/time-limits.js';
import type { McpServer } from './server.js';

/** One server, for direct use by the host application. Every method rejects with a typed error if it fails. */
export interface McpServerHandle {
  /**
   * Calls a tool without an agent, by the server's own name of the tool. With `checkArguments: 'strict'`, checks the
   * arguments against the schema first. A failure that the server reports is a result with `isError`. Rejects with a
   * typed error if there is no result.
   */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: McpCallOptions): Promise<ToolResult>;
  /** Lists the resources of the server. */
  listResources(options?: McpReadOptions): Promise<readonly McpResource[]>;
  /** Lists the URI templates of further resources. */
  listResourceTemplates(options?: McpReadOptions): Promise<readonly McpResourceTemplate[]>;
  /** Reads the contents of one resource. */
  readResource(uri: string, options?: McpReadOptions): Promise<readonly McpResourceContent[]>;
  /** Lists the prompts of the server. */
  listPrompts(options?: McpReadOptions): Promise<readonly McpPrompt[]>;
  /** Returns a prompt with its arguments filled in, as messages for a run. Their content comes from the server. */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: McpReadOptions): Promise<McpPromptText>;
  /**
   * Ends the connection and the process of the server, connects again and lists the tools again. Pending requests fail
   * with a McpRequestError. Concurrent calls share one restart. Rejects with a McpUnavailableError if the server is not
   * connected afterwards.
   */
  restart(): Promise<void>;
  /** Connects at once if the server is not connected. If the trust gate denied the server, asks the gate again. */
  reconnect(): Promise<void>;
  /**
   * Completes an authorization with the code that the user received from the authorization page, or with all parameters of
   * the URL that the user was sent back to.
   */
  finishAuthorization(code: string | URLSearchParams): Promise<void>;
}

/** Options of a tool call without an agent. */
export interface McpCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds, including the wait for a connection. Default: the `timeouts` of the loader. */
  readonly timeoutMs?: number | undefined;
  /** Called with each progress notification of the server. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

/** Options of a read request to a server. */
interface McpReadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A resource of a server. All of its strings come from the server. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** A URI template by RFC 6570. */
export interface McpResourceTemplate extends Omit<McpResource, 'uri' | 'size'> {
  readonly uriTemplate: string;
}

/** The content of a resource: a string in `text`, or bytes as base64 in `blob`. */
export interface McpResourceContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** A prompt of a server. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

/** A prompt with its arguments filled in. */
interface McpPromptText {
  readonly description: string | undefined;
  readonly messages: readonly Message[];
}

export function createHandle(server: McpServer): McpServerHandle {
  /** Leaves out entries without their required field. */
  const list = async <Entry>(what: McpList, key: string, { signal }: McpReadOptions = {}) => {
    const entries = await server.request((connection) => connection.list(what, { signal }), signal);
    return entries.filter((entry): entry is Entry => hasText(entry, key));
  };
  return {
    callTool: (name, args = {}, options = {}) => callTool(server, { name, args }, options),
    listResources: (options) => list('resources', 'uri', options),
    listResourceTemplates: (options) => list('resourceTemplates', 'uriTemplate', options),
    listPrompts: (options) => list('prompts', 'name', options),
    async readResource(uri, { signal } = {}) {
      const { contents } = await server.request((it) => it.request('resources/read', { uri }, { signal }), signal);
      return listOf(contents).filter((entry): entry is McpResourceContent => hasText(entry, 'uri'));
    },
    async getPrompt(name, args = {}, { signal } = {}) {
      const params = { name, arguments: args };
      const ask = (it: Connection) => it.request('prompts/get', params, { signal });
      const { description, messages } = await server.request(ask, signal);
      const text = typeof description === 'string' ? description : undefined;
      return { description: text, messages: listOf(messages).map(toMessage) };
    },
    restart: () => server.link.restart(),
    reconnect: () => server.link.connect(),
    finishAuthorization: (code) => server.finishAuthorization(code),
  };
}

const rules = {
  signal: having('an AbortSignal', { addEventListener: callable }),
  timeoutMs: timerMs,
  onProgress: callable,
} satisfies OptionTable<McpCallOptions>;

async function callTool(
  server: McpServer,
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  options: McpCallOptions,
): Promise<ToolResult> {
  validateOptions(options, rules);
  validateOption('args', args, required(object));
  const { signal, timeoutMs: limitMs, onProgress: progress = () => {} } = options;
  const what = `call of tool ${JSON.stringify(name)} of MCP server "${server.definition.name}"`;
  const limits = { what, callMs: limitMs ?? MAX_TIMER_MS, totalMs: limitMs ?? MAX_TIMER_MS, hold: server.hold, signal };
  return withDeadline(limits, (own) => server.callTool(name, args, { signal: own, progress, limitMs }));
}

function toMessage(message: unknown): Message {
  const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
  const part = toPart(content);
  return role === 'assistant' ? { role, content: [toAssistantPart(part)] } : { role: 'user', content: [part] };
}

/** Assistant messages have no image parts, so an image becomes a file part. */
function toAssistantPart(part: ContentPart): AssistantPart {
  if (part.type !== 'image') return part;
  return { type: 'file', data: part.image, mediaType: part.mediaType ?? 'image/*' };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function hasText(entry: unknown, key: string): boolean {
  return typeof entry === 'object' && entry !== null && typeof (entry as Record<string, unknown>)[key] === 'string';
}
