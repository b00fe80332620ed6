import type { JsonSchema, JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { SystemOptions } from '../process/app-options.js';
import type { LoaderOptions } from '../trust/loader-options.js';
import type { McpServerConfig } from './config/definition.js';
import type { McpEvent } from './server/event.js';
import type { McpOAuth } from './transport/authorization.js';

/** The options of `mcpServers`. Without `approve` and `gate`, no server of the workspace is used. */
export interface McpServersOptions extends Pick<LoaderOptions, 'gate'> {
  /** Asks the user to approve a server of the workspace. Without `approve` and `gate`, no such server is used. */
  readonly approve?: LoaderOptions['approve'];
  /** Servers of the host application, by name. They are trusted and connected without an approval. */
  readonly servers?: Readonly<Record<string, McpServerConfig>> | undefined;
  /**
   * Paths of files with `mcpServers`. The servers in these files are trusted, as the servers in `servers` are. A
   * missing file is skipped.
   */
  readonly configFiles?: readonly string[] | undefined;
  /** The workspace directory. The servers of its `.mcp.json` are used only after the approval of the trust gate. */
  readonly workspaceDir?: string | undefined;
  /**
   * The servers that `agent.ready()` and the first run wait for: `true` for all, `false` for none, or names. Waits for
   * the first attempt to connect. The tools of all other servers are added when their server is connected. Default:
   * none, but each server has `timeouts.readyMs` to connect.
   */
  readonly waitForServers?: boolean | readonly string[] | undefined;
  readonly timeouts?: McpTimeouts | undefined;
  /** Delays and number of the attempts to restore a lost connection. `false` turns automatic attempts off. */
  readonly reconnect?: McpReconnectOptions | false | undefined;
  readonly limits?: Partial<McpLimits> | undefined;
  /**
   * If true, a tool whose definition differs from the one that was first seen is offered only after an approval by the
   * trust gate. The trust store of the gate remembers the definitions. Without a gate, such a tool is not offered, and the
   * definitions are remembered until the loader is closed. Default: the tool is offered, and a `tools-delta` event reports
   * the change.
   */
  readonly pinTools?: boolean | undefined;
  /**
   * Selects how Keelson checks the arguments of a call against the schema of the tool. In addition, the server makes
   * its own check.
   *
   * - `coerce`: values of a wrong type are converted, such as `"5"` to `5`; `null` values of optional properties and
   *   forbidden unknown properties are removed. The messages, the hooks of the agent and a person who approves the call
   *   get the converted arguments, and each change is a `modify` decision.
   * - `strict`: the arguments are checked and never changed. Invalid arguments are not sent.
   * - `off`: the arguments are sent as they are.
   *
   * Default: `coerce` for an agent with the loader. Agents that share `tools` have no hook of the loader, so the default
   * for them is `off`. With an explicit `coerce`, the arguments are converted after the hooks of such an agent. Then no
   * decision is recorded, and a person who approves the call sees the arguments of the model.
   */
  readonly checkArguments?: 'coerce' | 'strict' | 'off' | undefined;
  /** Answers questions from a server to the user. Without `elicit`, servers are told that they cannot ask the user. */
  readonly elicit?: ((request: McpElicitation) => Awaitable<McpElicitationAnswer>) | undefined;
  /** The name and version of the application, sent to each server. Default: the name and version of Keelson. */
  readonly clientInfo?: McpClientInfo | undefined;
  /** The directories and files that servers may work on. A function is called for each request of a server. */
  readonly roots?: readonly McpRoot[] | (() => Awaitable<readonly McpRoot[]>) | undefined;
  /** Returns the OAuth provider for an HTTP server, or undefined if the application cannot authorize there. */
  readonly oauth?: ((server: McpServerAddress) => McpOAuth | undefined) | undefined;
  /** Called with each event about connections and tools. An error that it throws is logged. */
  readonly onEvent?: ((event: McpEvent) => void) | undefined;
  readonly system?: McpSystem | undefined;
}

/** A question from a server to the user. Show the user which server asks, since the message can claim anything. */
export interface McpElicitation {
  readonly server: string;
  readonly message: string;
  /** The schema of a form. Set if the server asks for data. */
  readonly schema?: JsonSchema | undefined;
  /** The page that the user should visit. Set if the server asks for a visit. Show the complete URL before opening it. */
  readonly url?: string | undefined;
  /** Aborted when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** The user's answer to a question from a server. */
export interface McpElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The form data, with `accept`. Missing fields get the defaults of the schema. */
  readonly content?: Readonly<Record<string, JsonValue>> | undefined;
}

/** The application's name and version, sent to servers. */
export interface McpClientInfo {
  readonly name: string;
  readonly version: string;
  /** A display name. */
  readonly title?: string | undefined;
}

/** Times in milliseconds. */
export interface McpTimeouts {
  /** Time limit from the start of a server until its tools are listed. Default 10,000. */
  readonly connectMs?: number | undefined;
  /**
   * Added to `connectMs` for a server that a package manager, Bun, Deno or a container program starts, such as `npx` or
   * `docker`. The program may install the server first. Default 240,000.
   */
  readonly installMs?: number | undefined;
  /**
   * The time that `agent.ready()` and the first run give a server that `waitForServers` does not name. The time begins
   * after the approval of the server. Default 1,000; with `waitForServers: false`, 0.
   */
  readonly readyMs?: number | undefined;
  /** Time limit of one request. Each progress notification restarts the limit. Default 60,000. */
  readonly callMs?: number | undefined;
  /** Time limit of one request in total. Progress notifications do not extend it. Default 600,000. */
  readonly totalMs?: number | undefined;
}

/**
 * Delays and number of the attempts to restore a lost connection. The delay doubles after each failed attempt. A random
 * part of up to half is subtracted.
 */
export interface McpReconnectOptions {
  /** Delay before the first attempt in milliseconds. Default 500. */
  readonly initialDelayMs?: number | undefined;
  /** Longest delay in milliseconds. Default 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** Failed attempts in a row until the server becomes unavailable. Default 10. */
  readonly maxRetries?: number | undefined;
}

/** Limits on what one server may send. */
export interface McpLimits {
  /**
   * Largest number of bytes of one message. A longer message is dropped, and the request that it answers fails. Default
   * 16 MiB.
   */
  readonly messageBytes: number;
  /**
   * Largest number of entries of the tool list, and of every other list. Further entries are ignored with a warning.
   * Default 1,000.
   */
  readonly tools: number;
  /**
   * Largest number of characters of a tool's description, and of a server's instructions. Longer strings are cut.
   * Default 4,000.
   */
  readonly descriptionLength: number;
  /**
   * Largest number of characters of a tool's schema as JSON. A tool with a longer schema is skipped. Default 262,144.
   */
  readonly schemaLength: number;
}

/** A directory or file that servers may work on. */
export interface McpRoot {
  /** A URI that begins with `file://`. */
  readonly uri: string;
  readonly name?: string | undefined;
}

/** The name and the URL of an HTTP server. */
interface McpServerAddress {
  readonly name: string;
  readonly url: string;
}

/** Replacements for functions of the system, and the environment for configurations and for child processes. */
export interface McpSystem extends SystemOptions, Pick<LoaderOptions, 'env' | 'logger'> {}
