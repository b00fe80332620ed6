/** An event about a server of a loader. */
export type McpEvent = McpConnectionStartEvent | McpConnectionErrorEvent | McpConnectionEndEvent | McpToolsDeltaEvent;

/** A server was connected, and its tools are available. */
interface McpConnectionStartEvent {
  readonly type: 'connection-start';
  readonly server: string;
  /** True if the server was connected before. */
  readonly again: boolean;
}

/** A connection to a server failed or was not allowed. */
interface McpConnectionErrorEvent {
  readonly type: 'connection-error';
  readonly server: string;
  readonly message: string;
}

/** A connection ended, and the tools of its server were removed. */
interface McpConnectionEndEvent {
  readonly type: 'connection-end';
  readonly server: string;
  readonly message: string;
}

/** The tools of a connected server changed. The names are the server's own. */
interface McpToolsDeltaEvent {
  readonly type: 'tools-delta';
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Names of tools whose definition differs from the one that was first seen. */
  readonly changed: readonly string[];
}
