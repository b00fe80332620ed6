import type { Cell } from './cell.js';
import type { HookTable } from './hook-table.js';

/** Describes another program, such as Claude Code, as far as Keelson must know it to read its files. */
export interface Program {
  readonly id: string;
  /** The name of the program in messages to people. */
  readonly name: string;
  /**
   * The version of the program that the sources describe. `read` is the month in which somebody read the sources, such
   * as `2026-11`.
   */
  readonly version: string;
  readonly read: string;
  /** The hooks of the program. Undefined if Keelson does not read them. */
  readonly hooks?: HookTable | undefined;
  /** The files that configure MCP servers. Undefined if the program has none. */
  readonly servers?: ServerTable | undefined;
  /** The extension packages of the program. Undefined if Keelson does not read them. */
  readonly packages?: PackageTable | undefined;
}

/** Describes the extension packages of a program. */
interface PackageTable {
  /** The path of the manifest file in a package. */
  readonly manifest: Cell<string>;
  /**
   * Files and directories by which a package without a manifest is recognized: a directory with at least one of them is
   * a package. If the array is empty, a package must have a manifest.
   */
  readonly parts: Cell<readonly string[]>;
}

/** Names of the values that variables in a program's configuration can stand for, such as the path of the workspace. */
export type PlaceName = 'workspace' | 'workspaceName' | 'home' | 'separator' | 'package';

/** Describes the files in which a program configures MCP servers. */
export interface ServerTable {
  /** The ends of the paths of the files that configure servers, such as `.vscode/mcp.json`. */
  readonly files: Cell<readonly string[]>;
  /**
   * The keys that lead from the top of a file to the object with the servers. There is one list of keys for each
   * possible place.
   */
  readonly maps: Cell<readonly (readonly string[])[]>;
  /** Keelson's name for each field that has another name in this program. */
  readonly fields: Cell<Readonly<Record<string, string>>>;
  /**
   * The name of a field that holds an object with the connection settings of a server. Undefined if the settings are
   * fields of the server itself.
   */
  readonly inner: Cell<string | undefined>;
  /**
   * The keys of two lists in the file: `off` lists servers that are switched off, and `on` lists servers that are
   * switched on. If the file has a list `on`, all other servers are switched off.
   */
  readonly lists: Cell<{ readonly off?: readonly string[]; readonly on?: readonly string[] }>;
  /**
   * The unit of the field `timeout`. If unknown, `timeout` counts milliseconds, and a value below 1,000 causes a
   * warning, because it may be meant in seconds.
   */
  readonly timeUnit: Cell<'milliseconds' | 'seconds'>;
  /**
   * The directory in which a server from an extension package starts. If unknown, it starts in the directory of the
   * package.
   */
  readonly startsIn: Cell<'workspace' | 'package'>;
  /** The variables that a server definition may contain, with the values that replace them. */
  readonly variables: Cell<Readonly<Record<string, PlaceName>>>;
  /** The names of the environment variables that a server gets from the program. */
  readonly environment: Cell<readonly string[]>;
  /**
   * The effect of a variable that has no value: the server is unavailable, or the variable becomes an empty string. If
   * unknown, the server is unavailable.
   */
  readonly unset: Cell<'unavailable' | 'empty'>;
  /**
   * The transport of a server that has a `url` but no `type`. With `http`, or if unknown, Streamable HTTP is tried
   * first, and then SSE.
   */
  readonly urlMeans: Cell<'http' | 'sse'>;
}
