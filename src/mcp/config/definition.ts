import type { TrustScope } from '../../trust/item.js';

/** A server as a host writes it, and as the `mcpServers` maps of other programs have it. */
export interface McpServerConfig {
  /** Default: `stdio` where there is a `command`, `http` where there is a `url`. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | undefined;
  /** The same as `type`. */
  readonly transport?: McpServerConfig['type'];
  /** The program, without arguments; no shell reads it. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** What the program gets beside a short list of harmless variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Where the server is, `http:` or `https:`. Where Streamable HTTP is refused and no type is named, SSE is tried. */
  readonly url?: string | undefined;
  /** The same as `url` with the type `http`. */
  readonly httpUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The tools to offer, by their own names; `*` stands for any text. Default: all. */
  readonly includeTools?: readonly string[] | undefined;
  /** The tools to leave out. Wins over `includeTools`. */
  readonly excludeTools?: readonly string[] | undefined;
  /** Time for one call, in milliseconds, which each sign of progress starts anew. */
  readonly timeout?: number | undefined;
  /** Known, shown, and not connected to. */
  readonly disabled?: boolean | undefined;
}

/** A server whose configuration is sound. Its texts are unexpanded. */
export interface McpServerDefinition {
  readonly name: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** Whether SSE is tried where Streamable HTTP is refused. */
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
  readonly disabled: boolean;
  readonly origin: McpServerOrigin;
}

/** Where definitions come from. */
export interface McpServerOrigin {
  /** `builtin`: the host names it itself. Anything else is put to the gate. */
  readonly scope: TrustScope;
  /** The file, absolute. */
  readonly source?: string | undefined;
  /** The extension that brings it along, and its folder, absolute. */
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** The folder that is worked in, which its PATH may not lead into. Default: that of the loader. */
  readonly workspaceDir?: string | undefined;
  /**
   * Variables with values that are neither shown nor hashed, such as settings: its servers get them in their environment,
   * and texts may name them.
   */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Whether a server that is started has to name its arguments, if only as an empty list. */
  readonly argsRequired?: boolean | undefined;
  /** What a `url` without a type means. Default `http`, and SSE where that is refused. */
  readonly urlMeans?: 'http' | 'sse' | undefined;
}

/** A server of a map: what it is, or why it cannot be used. `notes` say what of it was passed over. */
export type McpServerEntry = { readonly name: string; readonly notes: readonly string[] } & (
  | { readonly definition: McpServerDefinition }
  | { readonly problem: string; readonly origin: McpServerOrigin }
);
