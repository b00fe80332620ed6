import type { JsonValue } from '../internal/json.js';

/** The kinds of items. The string that is hashed for a fingerprint begins with the kind. */
export type TrustKind = 'hook' | 'mcp-server' | 'mcp-tool' | 'plugin' | 'extension' | 'settings' | 'skill';

/** The origin of an item. `builtin` is code of the host application, or a file that it names itself. */
export type TrustScope = 'builtin' | 'user' | 'workspace';

/**
 * An item for the trust gate: a program to run, a file to import, a server to connect to, a variable to read or a text
 * for the prompt. Strings are shown and hashed as written in the definition, without expansion.
 */
export interface TrustItem {
  readonly kind: TrustKind;
  /** The origin according to the loader. `user` becomes `workspace` if any part of the item lies in the workspace. */
  readonly scope: TrustScope;
  readonly name: string;
  /** The event of a hook. Two hooks with the same name at different events are two items. */
  readonly event?: string | undefined;
  /** The extension package that contains the item. */
  readonly extension?: string | undefined;
  /** The absolute path of the file that defines the item. */
  readonly source?: string | undefined;
  /** The absolute path of the extension package. All its files are part of the fingerprint. */
  readonly root?: string | undefined;
  /**
   * A program: an absolute path, a path relative to `root` or else the workspace, or a bare name.
   * With `shell`, a shell command line.
   */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** True if `command` is a command line for `/bin/sh`. `bash` prefers the `bash` in PATH if there is one. */
  readonly shell?: boolean | 'bash' | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The working directory, relative to `root` or else the workspace, which is the default. */
  readonly cwd?: string | undefined;
  /** Names of environment variables that the item reads. */
  readonly reads?: readonly string[] | undefined;
  /** Further workspace files in the fingerprint: file paths, directories, and patterns with `*`, `**` and `?`. */
  readonly files?: readonly string[] | undefined;
  /** All other parts of the definition: matcher, time limit, failure policy, dialect, URL, headers. */
  readonly details?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}

/** The placeholder for the directory of the extension package in `command` and `args`. */
export const EXTENSION_PATH = `\${extensionPath}`;
/**
 * The environment variable with the directory of the extension package. In a shell command line, the shell expands this
 * variable; Keelson does not change the line.
 */
export const EXTENSION_VARIABLE = 'extensionPath';

/** The directories and settings from which the paths and the program of an item are found. */
export interface TrustPlace {
  readonly workspaceDir: string;
  /** `workspaceDir` with links resolved. */
  readonly workspace: string;
  /** The paths of the workspace. Empty for the home directory, which is not treated as a workspace. */
  readonly roots: readonly string[];
  readonly stateDir: string;
  /** The PATH value for finding programs by name. */
  readonly path: string | undefined;
  readonly limits: BindingLimits;
  /** The variable that tells hooks the workspace directory, such as `KEELSON_PROJECT_DIR`. */
  readonly projectVariable?: string | undefined;
}

/** Limits for the files of one item. */
export interface BindingLimits {
  readonly files: number;
  readonly bytes: number;
}
