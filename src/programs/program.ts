import type { Cell } from './cell.js';
import type { HookTable } from './hook-table.js';

/** The facts about one program on which Keelson relies. */
export interface Program {
  readonly id: string;
  /** The name that people read. */
  readonly name: string;
  /** The version that the sources describe, and the month in which they were read, as `2026-11`. */
  readonly version: string;
  readonly read: string;
  /** Undefined if Keelson reads no hooks of the program. */
  readonly hooks?: HookTable | undefined;
  /** Undefined if the program has no configuration of MCP servers. */
  readonly servers?: ServerTable | undefined;
  /** Undefined if Keelson reads no packages of the program. */
  readonly packages?: PackageTable | undefined;
}

/** Packages of extensions. */
interface PackageTable {
  /** Path of the manifest in the package. */
  readonly manifest: Cell<string>;
  /**
   * A directory without a manifest is a package if it contains one of these files and directories. If the array is
   * empty, the manifest is required.
   */
  readonly parts: Cell<readonly string[]>;
}

/** Names of the values that a program's variables stand for. */
export type PlaceName = 'workspace' | 'workspaceName' | 'home' | 'separator' | 'package';

/** Configuration files of MCP servers. */
export interface ServerTable {
  /** Path endings of the configuration files of the program, such as `.vscode/mcp.json`. */
  readonly files: Cell<readonly string[]>;
  /** Keys that lead from the top of a file to the map of servers. */
  readonly maps: Cell<readonly (readonly string[])[]>;
  /** Maps the program's name of a field to Keelson's name. */
  readonly fields: Cell<Readonly<Record<string, string>>>;
  /**
   * Field of a server whose object holds the connection settings. Undefined if they are fields of the server itself.
   */
  readonly inner: Cell<string | undefined>;
  /**
   * Keys of the list `off`, of servers that are switched off, and of the list `on`. If there is a list `on`, all other
   * servers are switched off.
   */
  readonly lists: Cell<{ readonly off?: readonly string[]; readonly on?: readonly string[] }>;
  /**
   * Unit of `timeout`. If unknown, `timeout` is in milliseconds, and a value below 1,000 is reported with a warning.
   */
  readonly timeUnit: Cell<'milliseconds' | 'seconds'>;
  /** Directory in which a server of a package starts. If unknown, it starts in the directory of the package. */
  readonly startsIn: Cell<'workspace' | 'package'>;
  /** Variables that are replaced in a definition. */
  readonly variables: Cell<Readonly<Record<string, PlaceName>>>;
  /** Names of the variables that a server gets in its environment. */
  readonly environment: Cell<readonly string[]>;
  /** Effect of a variable without a value. If unknown, the server is unavailable. */
  readonly unset: Cell<'unavailable' | 'empty'>;
  /**
   * Transport of a server with a `url` and without a `type`. With `http`, or if unknown, Streamable HTTP is tried
   * first, then SSE.
   */
  readonly urlMeans: Cell<'http' | 'sse'>;
}
