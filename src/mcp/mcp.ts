import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { LiveToolSet } from '../tools/tool.js';
import type { McpServerConfig, McpServerOrigin } from './config/definition.js';
import type { McpServersOptions } from './options.js';
import { createHandle, type McpServerHandle } from './server/handle.js';
import type { McpServerStatus } from './server/status.js';
import { lifecyclesOf } from './servers/lifecycles.js';
import { Loader, type McpReload } from './servers/loader.js';
import type { McpTool } from './tools/mcp-tool.js';

export type { Spawn } from '../process/process-group.js';
export { readConfigFile as readMcpConfig } from './config/config-file.js';
export type { McpServerConfig, McpServerDefinition, McpServerEntry, McpServerOrigin } from './config/definition.js';
export {
  McpClosedError,
  McpConfigError,
  McpConnectError,
  McpRequestError,
  McpSessionLostError,
  McpUnauthorizedError,
  McpUnavailableError,
} from './error.js';
export type {
  McpClientInfo,
  McpElicitation,
  McpElicitationAnswer,
  McpLimits,
  McpRoot,
  McpServersOptions,
  McpSystem,
  McpTimeouts,
} from './options.js';
export type { McpEvent } from './server/event.js';
export type {
  McpCallOptions,
  McpPrompt,
  McpResource,
  McpResourceContent,
  McpResourceTemplate,
  McpServerHandle,
} from './server/handle.js';
export type { McpServerState, McpServerStatus } from './server/status.js';
export type { McpReload } from './servers/loader.js';
export { isMcpTool, type McpTool, type McpToolSource, wrapMcpTool } from './tools/mcp-tool.js';
export type { McpOAuth } from './transport/authorization.js';
export { HttpStatusError, HttpUnreachableError } from './transport/http-client.js';

/**
 * A loader that adds the tools of MCP servers to an agent. The agent connects the servers, and closes them when the
 * agent is closed. To share servers between agents, pass `tools: mcp.tools`, and call `connect` and `close` yourself.
 */
export interface McpServers extends LifecycleLoader {
  readonly name: 'mcp';
  /** The tools of all connected servers. The tools of a server are removed when it disconnects. */
  readonly tools: McpTools;
  /**
   * Adds the tools to an agent and connects the servers. An agent with `loaders: [mcp]` calls `load`. Waits for the
   * servers as the option `waitForServers` says. Rejects after `close`.
   */
  load(host: LoaderHost): Promise<void>;
  /** Connects to all servers in parallel. Resolves when each server is connected, or its first attempt has failed. */
  connect(): Promise<void>;
  /** Ends all connections. Resolves when all server processes have ended. */
  close(): Promise<void>;
  /** Returns the current state of every server. Starts and contacts no server. */
  status(): readonly McpServerStatus[];
  /**
   * Adds one server and connects to it. Without an `origin`, the server is trusted as one of the host application.
   * Servers of the host application have precedence over servers of the user, then over servers of the workspace.
   * Rejects with an OptionInvalidError if the name belongs to a server of the same origin or with precedence. If the
   * new server has precedence, the other server is left out with a warning, and ends after its pending calls.
   */
  add(name: string, config: McpServerConfig, origin?: McpServerOrigin): Promise<McpServerStatus>;
  /**
   * Adds or replaces a server. Trusts the server as `add` does. An unchanged server keeps its connection. A changed
   * server finishes its pending calls before it ends. Resolves with `left-out` if a server with precedence has the
   * name. The new server gets the name when that server is removed.
   */
  set(
    name: string,
    config: McpServerConfig,
    origin?: McpServerOrigin,
  ): Promise<'added' | 'changed' | 'unchanged' | 'left-out'>;
  /**
   * Removes a server and its tools, fails its pending calls and ends its process. If another server was left out
   * because of its name, that server takes the name. Resolves with false if the server is unknown.
   */
  remove(name: string, options?: McpRemoveOptions): Promise<boolean>;
  /**
   * Reads `configFiles` and `.mcp.json` again, and returns the names of added, removed, changed and unchanged servers.
   * An unchanged server keeps its connection, or is connected if it has none. A removed or changed server finishes its
   * pending calls before it ends. Rejects with a McpClosedError after `close`.
   */
  reload(): Promise<McpReload>;
  /**
   * Returns the handle of one server. Throws a McpUnavailableError if the server is unknown or its configuration is
   * invalid.
   */
  server(name: string): McpServerHandle;
  /** Tells the connected servers that the option `roots` has new values, so that they ask for the roots again. */
  announceRoots(): void;
}

/** Options of `remove`. */
export interface McpRemoveOptions {
  /** If true, the server ends only after its pending calls, and `remove` does not wait for them. Default: false. */
  readonly graceful?: boolean | undefined;
  /** Removes only a server of this origin. Default: the server that has the name. */
  readonly origin?: McpServerOrigin | undefined;
}

/** The tools of all connected servers. */
export interface McpTools extends LiveToolSet {
  list(): readonly McpTool[];
  /** Finds a tool by its full name, or by the server's own name if only one server has a tool of that name. */
  find(name: string): McpTool | undefined;
}

/**
 * Connects an agent to any number of MCP servers over stdio, Streamable HTTP and SSE. Their tools are named
 * `mcp__server__tool`. A server that fails is logged and shown in `status()`. It delays neither other servers nor the
 * first run, unless `waitForServers` names it. If a server disconnects, its tools are removed until it is connected again.
 *
 * The servers in `servers` are trusted. The servers of the workspace's `.mcp.json` need the approval of the trust gate.
 *
 * @example
 * const mcp = mcpServers({
 *   servers: {
 *     files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
 *     docs: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${DOCS_TOKEN}' } },
 *   },
 * });
 * const agent = new Agent({ model, loaders: [mcp] });
 */
export function mcpServers(options: McpServersOptions = {}): McpServers {
  const loader = new Loader(options);
  return {
    name: 'mcp',
    tools: loader.servers.tools,
    load: (host) => loader.load(host, lifecyclesOf(loader, host)),
    connect: () => loader.connect(),
    close: () => loader.close(),
    status: () => loader.servers.statuses(),
    add: (name, config, origin = { scope: 'builtin' }) => loader.add(name, config, origin),
    set: (name, config, origin = { scope: 'builtin' }) => loader.set(name, config, origin),
    remove: (name, { graceful = false, origin } = {}) => loader.servers.remove(name, { graceful, origin }),
    reload: () => loader.reload(),
    server: (name) => createHandle(loader.servers.find(name)),
    announceRoots: () => loader.announceRoots(),
  };
}
