import type { TrustScope } from '../../trust/item.js';

/** The configuration of one server, in the form that other programs use in their `mcpServers` maps. */
export interface McpServerConfig {
  /** Default: `stdio` if `command` is set, `http` if `url` is set. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | undefined;
  /** Alias of `type`. */
  readonly transport?: McpServerConfig['type'];
  /** The program, without arguments. It is started without a shell. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Environment variables of the program, in addition to a short list of harmless inherited variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** The `http:` or `https:` URL of the server. Without a `type`, SSE is tried if the server refuses Streamable HTTP. */
  readonly url?: string | undefined;
  /** Alias of `url` that also sets the type `http`. */
  readonly httpUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The server's own names of the tools to offer; `*` matches any characters. Default: all tools. */
  readonly includeTools?: readonly string[] | undefined;
  /** The server's own names of the tools to leave out. Takes precedence over `includeTools`. */
  readonly excludeTools?: readonly string[] | undefined;
  /** Time limit of one request in milliseconds. Each progress notification restarts the limit. */
  readonly timeout?: number | undefined;
  /**
   * The revision of the protocol. With `auto`, a server over HTTP is asked for its revisions, and a server over stdio
   * is started with 2025-11-25. The revision 2026-07-28 needs `@modelcontextprotocol/client`. Default: `auto`.
   */
  readonly protocol?: 'auto' | '2025-11-25' | '2026-07-28' | undefined;
  /** If true, the server is listed in `status()` but never connected to. */
  readonly disabled?: boolean | undefined;
}

/** The valid definition of one server. Variables such as `${NAME}` in its strings are not expanded yet. */
export interface McpServerDefinition {
  readonly name: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** True if SSE is tried after the server refuses Streamable HTTP. */
  readonly sseFallback: boolean;
  readonly command: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly includeTools: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
  readonly callTimeoutMs: number | undefined;
  readonly protocol: McpServerConfig['protocol'];
  readonly disabled: boolean;
  readonly origin: McpServerOrigin;
}

/** The origin of a server definition. */
export interface McpServerOrigin {
  /** `builtin` means that the host application defines the server. A trust gate decides about all other servers. */
  readonly scope: TrustScope;
  /**
   * If two servers have the same name, decides which one is used: `builtin` goes before `user`, and `user` before
   * `workspace`. Default: `scope`.
   */
  readonly precedence?: TrustScope | undefined;
  /** Absolute path of the file that defines the server. */
  readonly source?: string | undefined;
  /** Id of the program whose format the definition has, such as `claude`. Default: the format of Keelson. */
  readonly program?: string | undefined;
  /** The extension that provides the server. */
  readonly extension?: string | undefined;
  /** Absolute path of the directory of the extension. */
  readonly root?: string | undefined;
  /**
   * The workspace directory. A server that needs an approval gets no directories inside it in PATH, so that programs of
   * the workspace do not replace other programs. Default: `workspaceDir` of the loader.
   */
  readonly workspaceDir?: string | undefined;
  /**
   * Environment variables whose values are neither shown nor hashed, such as settings of an extension. The program
   * receives them, and `${NAME}` in the definition may refer to them.
   */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * Returns a copy of a value without secrets. Called with all data that the server sends, and with errors of
   * connecting, before anything else uses them.
   */
  readonly redact?: (<Value>(value: Value) => Value) | undefined;
  /** If true, a server with a `command` must also have `args`, which may be empty. */
  readonly argsRequired?: boolean | undefined;
  /**
   * The transport of a server with a `url` and without a `type`. Default: `http`, then SSE if the server refuses
   * Streamable HTTP.
   */
  readonly urlMeans?: 'http' | 'sse' | undefined;
}

/**
 * One server of a map: its definition, or the problem that makes it unusable. `notes` lists warnings about its fields.
 * `ignored` lists the names of unknown fields that need no warning, because they restrict nothing.
 */
export type McpServerEntry = {
  readonly name: string;
  readonly notes: readonly string[];
  readonly ignored?: readonly string[] | undefined;
} & ({ readonly definition: McpServerDefinition } | { readonly problem: string; readonly origin: McpServerOrigin });
