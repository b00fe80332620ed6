import { KeelsonError, type KeelsonErrorOptions } from '../errors.js';

/** A connection to a server could not be made. No process of the server is left running. */
export class McpConnectError extends KeelsonError {
  readonly code = 'ERR_MCP_CONNECT';
  readonly server: string;
  /** True if a later attempt may succeed. */
  readonly retryable: boolean;
  /**
   * The revisions that the server speaks, if it refused the revision of the client. Empty if the server does not name
   * them.
   */
  readonly revisions: readonly string[] | undefined;

  constructor(
    server: string,
    problem: string,
    options: KeelsonErrorOptions & { readonly retryable?: boolean; readonly revisions?: readonly string[] } = {},
  ) {
    super(`MCP server "${server}" could not be connected to: ${problem}`, options);
    this.server = server;
    this.retryable = options.retryable ?? true;
    this.revisions = options.revisions;
  }
}

/** A server is unknown or not connected. */
export class McpUnavailableError extends KeelsonError {
  readonly code = 'ERR_MCP_UNAVAILABLE';
  readonly server: string;

  constructor(server: string, problem: string) {
    super(`MCP server "${server}" is not available: ${problem}`);
    this.server = server;
  }
}

/** The loader is closed, so `reload` cannot read the configuration. */
export class McpClosedError extends KeelsonError {
  readonly code = 'ERR_MCP_CLOSED';

  constructor() {
    super('The MCP servers are closed; call `mcpServers` again to open new ones.');
  }
}

/** A request to a server failed. */
export class McpRequestError extends KeelsonError {
  readonly code = 'ERR_MCP_REQUEST';
  readonly server: string;
  /** The JSON-RPC or HTTP status code of the response, such as -32602 or 503. Undefined if there was no response. */
  readonly status: number | undefined;

  constructor(server: string, message: string, options: KeelsonErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.server = server;
    this.status = options.status;
  }
}

/** A server requires an authorization. Pass the code from the authorization page to `finishAuthorization`. */
export class McpUnauthorizedError extends KeelsonError {
  readonly code = 'ERR_MCP_UNAUTHORIZED';
  readonly server: string;

  constructor(server: string, problem: string, options?: KeelsonErrorOptions) {
    super(`MCP server "${server}" requires an authorization: ${problem}`, options);
    this.server = server;
  }
}

/** A configuration file with MCP servers cannot be used. */
export class McpConfigError extends KeelsonError {
  readonly code = 'ERR_MCP_CONFIG';
  readonly path: string;

  constructor(path: string, problem: string, options?: KeelsonErrorOptions) {
    super(`${path} cannot be used: ${problem}`, options);
    this.path = path;
  }
}

/** The server no longer knows the session. It did not process the request. */
export class McpSessionLostError extends KeelsonError {
  readonly code = 'ERR_MCP_SESSION_LOST';

  constructor(server: string, cause: unknown) {
    super(
      `MCP server "${server}" no longer knows the session, so it did not run the request. Send the request again.`,
      { cause },
    );
  }
}
