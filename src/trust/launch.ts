import { isAbsolute, join, relative } from 'node:path';
import { isInside } from '../process/files/location.js';
import type { LocatedItem } from './fingerprint/fingerprint.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE } from './item.js';

/** What exactly is to be spawned. */
export interface TrustedLaunch {
  /** Absolute, without links. */
  readonly command: string;
  /** What the program was found as. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What the item's definition adds to the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** How an item is started; in the copy of its extension, where there is one. */
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
  const shellArgs = ['-c', item.command, ...(args.length > 0 ? [executable.path, ...args] : [])];
  return { ...base, args: shellArgs, env: root === undefined ? env : { ...env, [EXTENSION_VARIABLE]: root } };
}

/** The path in the copy, where it is one of the extension. */
function moved(path: string, { item, root }: LocatedItem, snapshot: string | undefined): string {
  if (snapshot === undefined || !isAbsolute(path)) return path;
  const home = [item.root, root].find((folder) => folder !== undefined && isInside(path, folder));
  return home === undefined ? path : join(snapshot, relative(home, path));
}
