/**
 * How a server stands. `pending`: it waits for an approval. `denied`: the user said no. `invalid`: its configuration
 * cannot be used. `reconnecting`: it was connected, and will be again. `unavailable`: it failed, and is not tried again
 * by itself.
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

/** A server as it stands. Making this starts and contacts nothing. */
export interface McpServerStatus {
  readonly name: string;
  readonly state: McpServerState;
  /** That of the connection; before there is one, the one that is configured. */
  readonly transport: 'stdio' | 'http' | 'sse' | undefined;
  /** Of the protocol, as the connection agreed on it. */
  readonly protocolVersion: string | undefined;
  /** What a connected server says of its own use, for a model: its own words, which no model gets by itself. */
  readonly instructions: string | undefined;
  /** The names of its tools in the set. */
  readonly tools: readonly string[];
  readonly toolCount: number;
  readonly lastError: string | undefined;
  /** How often it was connected to again. */
  readonly reconnects: number;
  /** Who brings it along. */
  readonly scope: 'builtin' | 'user' | 'workspace';
  /** The file that defines it. */
  readonly source: string | undefined;
  /** The variables that its configuration names. They are read when it is connected to, and not before. */
  readonly reads: readonly string[];
}
