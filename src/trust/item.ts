import type { JsonValue } from '../internal/json.js';

/** What can be asked about. It is the first word of the text that is hashed. */
export type TrustKind = 'hook' | 'mcp-server' | 'plugin' | 'extension' | 'settings' | 'skill';

/** Where an item comes from. `builtin` is code of the host application, or a file that it names itself. */
export type TrustScope = 'builtin' | 'user' | 'workspace';

/**
 * Something that would run, be imported, be connected to, read a variable or enter the prompt. Texts are given as they
 * stand in the definition, unexpanded: that is what is shown and hashed.
 */
export interface TrustItem {
  readonly kind: TrustKind;
  /** What the loader takes it for. Lies anything of it in the workspace, `user` becomes `workspace`. */
  readonly scope: TrustScope;
  readonly name: string;
  /** Of a hook. Two hooks of one name at two events are two items. */
  readonly event?: string | undefined;
  /** The extension that it belongs to. */
  readonly extension?: string | undefined;
  /** The file that defines it, absolute. */
  readonly source?: string | undefined;
  /** The folder of the extension, absolute: all that lies in it is bound. */
  readonly root?: string | undefined;
  /** A program: an absolute path, one relative to `root` or else the workspace, or a bare name. With `shell`, a text. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Whether `command` is a text for `/bin/sh`; `bash`: for the `bash` in PATH, where there is one. */
  readonly shell?: boolean | 'bash' | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Relative to `root` or else the workspace, which is the default. */
  readonly cwd?: string | undefined;
  /** The environment variables that it would read. */
  readonly reads?: readonly string[] | undefined;
  /** More files of the workspace that it depends on: paths, folders, and patterns with `*`, `**` and `?`. */
  readonly files?: readonly string[] | undefined;
  /** The rest of its definition, whatever that is: matcher, time-out, failure policy, dialect, URL, headers. */
  readonly details?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}

/** What stands for the folder of the extension in `command` and `args`. */
export const EXTENSION_PATH = `\${extensionPath}`;
/** The variable in which a line for a shell finds that folder: nothing is put into the line itself. */
export const EXTENSION_VARIABLE = 'extensionPath';

/** Where items are judged from. */
export interface TrustPlace {
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** The text of the PATH variable that bare names are looked up in. */
  readonly path: string | undefined;
  readonly limits: BindingLimits;
  /** The variable that hooks find the workspace in, such as `KEELSON_PROJECT_DIR`. */
  readonly projectVariable?: string | undefined;
}

/** How much may be bound to one item. */
export interface BindingLimits {
  readonly files: number;
  readonly bytes: number;
}
