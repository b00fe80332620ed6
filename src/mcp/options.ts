import type { Clock } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { Spawn } from '../process/process-group.js';
import type { Approver } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import type { McpServerConfig } from './config/definition.js';
import type { McpElicitation, McpElicitationAnswer } from './elicitation.js';
import type { McpEvent } from './event.js';
import type { McpOAuth } from './transport/oauth.js';

/** What `mcpServers` takes. All of it is optional. */
export interface McpServersOptions {
  /** Servers that the host names itself, by name: they are trusted, and connected to without a question. */
  readonly servers?: Readonly<Record<string, McpServerConfig>> | undefined;
  /** Files with `mcpServers` that the host names itself: trusted likewise. A file that is not there has no servers. */
  readonly configFiles?: readonly string[] | undefined;
  /** The folder that is worked in. The servers of its `.mcp.json` are put to the gate before anything of them is used. */
  readonly workspaceDir?: string | undefined;
  /** Asks the user about a server of the workspace. Without it, and without a `gate`, none of them is used. */
  readonly approve?: Approver | undefined;
  /** The gate, where the host has one already. Default: one over `workspaceDir` that asks `approve`. */
  readonly gate?: TrustGate | undefined;
  readonly timeouts?: McpTimeouts | undefined;
  /** How a connection that was lost is made again; `false`: not by itself. */
  readonly reconnect?: McpReconnectOptions | false | undefined;
  readonly limits?: Partial<McpLimits> | undefined;
  /** Withholds a tool that is not what it was when it was first seen. Default: it is offered, and an event tells. */
  readonly pinTools?: boolean | undefined;
  /** Answers what a server wants to ask the user. Without it servers are told that nobody can be asked. */
  readonly elicit?: ((request: McpElicitation) => Awaitable<McpElicitationAnswer>) | undefined;
  /** The name and version of the application, which each server is told. Default: those of Keelson. */
  readonly clientInfo?: McpClientInfo | undefined;
  /** The folders and files that servers may work on, as they are when a server asks for them. */
  readonly roots?: readonly McpRoot[] | (() => Awaitable<readonly McpRoot[]>) | undefined;
  /** How to authorize at a server over HTTP; undefined where there is no way. */
  readonly oauth?: ((server: McpServerAddress) => McpOAuth | undefined) | undefined;
  /** Told of what happens to connections and tools. A throw is logged. */
  readonly onEvent?: ((event: McpEvent) => void) | undefined;
  readonly system?: McpSystem | undefined;
}

/** The application, as servers are told of it. */
export interface McpClientInfo {
  readonly name: string;
  readonly version: string;
  /** A name for people. */
  readonly title?: string | undefined;
}

/** Times in milliseconds. */
export interface McpTimeouts {
  /** From the start of a server to its list of tools. Default 10,000. */
  readonly connectMs?: number | undefined;
  /** For one request; each sign of progress starts it anew. Default 60,000. */
  readonly callMs?: number | undefined;
  /** For one request with all its progress. Default 600,000. */
  readonly totalMs?: number | undefined;
}

/** Waiting times grow by two from one attempt to the next, and vary by half. */
export interface McpReconnectOptions {
  /** Before the first attempt. Default 500. */
  readonly initialMs?: number | undefined;
  /** The longest. Default 30,000. */
  readonly maxMs?: number | undefined;
  /** Attempts in a row until the server is given up. Default 10. */
  readonly attempts?: number | undefined;
}

/** What one server may send. */
export interface McpLimits {
  /** Bytes of one message; a longer one is dropped, and the call that it answers fails. Default 16 MiB. */
  readonly messageBytes: number;
  /** Tools that are offered; the rest is left out with a warning. Default 1,000. */
  readonly tools: number;
  /** Pages of a list. Default 1,000. */
  readonly pages: number;
  /** Characters of a tool's description, and of a server's instructions; longer ones are cut. Default 4,000. */
  readonly descriptionLength: number;
  /** Characters of a tool's schema as JSON; a tool with a longer one is skipped. Default 262,144. */
  readonly schemaLength: number;
}

/** A folder or file that servers may work on. */
export interface McpRoot {
  /** Begins with `file://`. */
  readonly uri: string;
  readonly name?: string | undefined;
}

/** A server over HTTP. */
export interface McpServerAddress {
  readonly name: string;
  readonly url: string;
}

/** What reaches outside of the process, for tests and unusual hosts. */
export interface McpSystem {
  /** Where variables of configurations and the inherited ones come from. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly clock?: Clock | undefined;
  readonly spawn?: Spawn | undefined;
  /** For servers over HTTP. Default: that of the machine. */
  readonly fetch?: typeof fetch | undefined;
  /** Default: that of the agent, or the console. */
  readonly logger?: Logger | undefined;
}
