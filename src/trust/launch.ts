import { isAbsolute, join, relative } from 'node:path';
import { isInside } from '../process/files/location.js';
import type { LocatedItem } from './fingerprint/fingerprint.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE } from './item.js';

/** The exact command to spawn. */
export interface TrustedLaunch {
  /** The absolute path of the program, with links resolved. */
  readonly command: string;
  /** The path of the program before links were resolved. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Environment variables that the definition of the item adds. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Returns how to start an item. If a copy of its extension package is given, paths in the package are moved to the
 * copy.
 */
export function launchOf(located: LocatedItem, snapshot: string | undefined): TrustedLaunch | undefined {
  const { item, executable } = located;
  if (executable === undefined || item.command === undefined) return undefined;
  const move = (path: string) => moved(path, located, snapshot);
  const root = snapshot ?? item.root;
  const expand = (text: string) => (root === undefined ? text : move(text.replaceAll(EXTENSION_PATH, () => root)));
  const env = Object.fromEntries(Object.entries(item.env ?? {}).map(([name, value]) => [name, expand(value)]));
  const base = { command: move(executable.realPath), argv0: move(executable.path), cwd: move(located.cwd) };
  const args = (item.args ?? []).map(expand);
  if (!item.shell) return { ...base, args, env };
  const shellArgs = ['-c', item.command, executable.path, ...args];
  return { ...base, args: shellArgs, env: root === undefined ? env : { ...env, [EXTENSION_VARIABLE]: root } };
}

/** Returns the path in the copy, if the original lies in the extension package. */
function moved(path: string, { item, root }: LocatedItem, snapshot: string | undefined): string {
  if (snapshot === undefined || !isAbsolute(path)) return path;
  const home = [item.root, root].find((folder) => folder !== undefined && isInside(path, folder));
  return home === undefined ? path : join(snapshot, relative(home, path));
}
