import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInside } from '../process/files/location.js';
import { PluginUntrustedError } from './error.js';

/** How many files a plugin may consist of. */
export const MOST_FILES = 1_000;

const CODE = /\.(?:[cm]?[jt]sx?|wasm|node)$/;

/** Whether a file is code by its name. */
export function isCode(path: string): boolean {
  return CODE.test(path);
}

/**
 * The folder that stands for a file whose imports cannot all be told: that of the nearest package.json, else its own.
 * Undefined when that is the workspace itself, or lies outside of it.
 */
export async function folderOf(path: string, workspaceDir: string): Promise<string | undefined> {
  const own = dirname(path);
  const isBelow = (folder: string) => folder !== workspaceDir && isInside(folder, workspaceDir);
  for (let folder = own; isBelow(folder); folder = dirname(folder)) {
    if ((await stat(join(folder, 'package.json')).catch(() => undefined))?.isFile()) return folder;
  }
  return isBelow(own) ? own : undefined;
}

/** The code in a folder and below, with each package.json: all but what is in `node_modules`. */
export async function codeIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const folders = [folder];
  for (const each of folders) {
    const real = await realpath(each);
    if (seen.has(real)) continue;
    seen.add(real);
    for (const name of (await readdir(each)).sort()) {
      const path = join(each, name);
      const kind = await stat(path).catch(() => undefined);
      if (kind?.isDirectory() && name !== 'node_modules') folders.push(path);
      if (kind?.isFile() && (isCode(name) || name === 'package.json')) found.push(path);
    }
    if (found.length + folders.length > MOST_FILES) {
      throw new PluginUntrustedError(folder, `it holds more than ${MOST_FILES} files and folders`);
    }
  }
  return found;
}
