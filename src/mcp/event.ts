/** What happens to the servers of a loader. */
export type McpEvent = McpConnectionStartEvent | McpConnectionErrorEvent | McpConnectionEndEvent | McpToolsDeltaEvent;

/** A server is connected, and its tools are in the set. */
export interface McpConnectionStartEvent {
  readonly type: 'connection-start';
  readonly server: string;
  /** Whether it was connected before. */
  readonly again: boolean;
}

/** A server could not be connected to, or may not be. */
export interface McpConnectionErrorEvent {
  readonly type: 'connection-error';
  readonly server: string;
  readonly message: string;
}

/** A connection is over, and the server's tools have left the set. */
export interface McpConnectionEndEvent {
  readonly type: 'connection-end';
  readonly server: string;
  readonly message: string;
}

/** A connected server offers other tools than it did. Names are its own. */
export interface McpToolsDeltaEvent {
  readonly type: 'tools-delta';
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Those of the same name that are not what they were when they were first seen. */
  readonly changed: readonly string[];
}
