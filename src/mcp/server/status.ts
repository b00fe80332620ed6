import type { McpServerDefinition } from '../config/definition.js';

/**
 * The state of a server. `connecting`: an attempt to connect is under way, and none has succeeded yet. `pending`: an
 * approval is missing. `denied`: the user declined the server. `invalid`: its configuration cannot be used.
 * `reconnecting`: its connection was lost and is being restored. `unavailable`: the last attempt to connect failed.
 * Another attempt follows if a later one may succeed, up to `reconnect.maxRetries`.
 */
export type McpServerState =
  | 'idle'
  | 'pending'
  | 'denied'
  | 'invalid'
  | 'disabled'
  | 'connecting'
  | 'connected'
  | 'reconnecting'
  | 'unavailable'
  | 'closed';

/**
 * The step of a connection attempt. `installing`: a package runner such as `npx` was started, and may be installing the
 * server. `starting`: the server was started or contacted. `listing`: the server answered, and its tools are read.
 */
export type McpConnectStep = 'installing' | 'starting' | 'listing';

/**
 * States of a server in which a run lacks no tools that it should have: the server is connected, switched off, declined
 * or closed.
 */
export const EXPECTED: ReadonlySet<McpServerState> = new Set(['connected', 'disabled', 'denied', 'closed']);

/** The state of one server at the time of the call. */
export interface McpServerStatus {
  readonly name: string;
  readonly state: McpServerState;
  /** The step of the attempt to connect. Undefined if no attempt is under way. */
  readonly step: McpConnectStep | undefined;
  /** The transport of the current connection, otherwise the configured one. */
  readonly transport: 'stdio' | 'http' | 'sse' | undefined;
  /** The MCP version of the current connection. */
  readonly protocolVersion: string | undefined;
  /** The instructions that the connected server provides for a model. They are not added to any prompt automatically. */
  readonly instructions: string | undefined;
  /** The full names of the tools of the server that are available. */
  readonly tools: readonly string[];
  readonly toolCount: number;
  readonly lastError: string | undefined;
  /** How often a lost connection was restored. */
  readonly reconnects: number;
  /** The origin of the definition: the host application (`builtin`), the user or the workspace. */
  readonly scope: 'builtin' | 'user' | 'workspace';
  /** The path of the file that defines the server. */
  readonly source: string | undefined;
  /** The name of the extension package that provides the server. */
  readonly extension: string | undefined;
  /** The names of the variables in its configuration. Their values are read only when the server is connected. */
  readonly reads: readonly string[];
  /** Names of unknown fields in its configuration. They are ignored without a warning, because they restrict nothing. */
  readonly ignoredFields: readonly string[];
}

/** Returns the status of a server. A field that is not given has the value for a server without a connection. */
export function statusOf(
  { name, origin }: Pick<McpServerDefinition, 'name' | 'origin'>,
  known: Pick<McpServerStatus, 'state' | 'lastError' | 'ignoredFields'> & Partial<McpServerStatus>,
): McpServerStatus {
  const { scope, source, extension } = origin;
  return {
    ...{ name, scope, source, extension, step: undefined, tools: [], toolCount: 0, reads: [], reconnects: 0 },
    ...{ transport: undefined, protocolVersion: undefined, instructions: undefined, ...known },
  };
}
