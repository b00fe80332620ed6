import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInside } from '../process/files/location.js';
import { PluginUntrustedError } from './error.js';

/** Maximum number of files in one plugin. */
export const MOST_FILES = 1_000;

const CODE = /\.(?:[cm]?[jt]sx?|wasm|node)$/;

/** True if the file extension is one of JavaScript, TypeScript, WebAssembly or a native addon. */
export function isCode(path: string): boolean {
  return CODE.test(path);
}

/**
 * Returns the directory to approve as a whole if a file's imports are unknown: the nearest one with a package.json, or
 * the file's own. Undefined if that directory is the workspace itself or lies outside it.
 */
export async function folderOf(path: string, workspaceDir: string): Promise<string | undefined> {
  const own = dirname(path);
  const isBelow = (folder: string) => folder !== workspaceDir && isInside(folder, workspaceDir);
  for (let folder = own; isBelow(folder); folder = dirname(folder)) {
    if ((await stat(join(folder, 'package.json')).catch(() => undefined))?.isFile()) return folder;
  }
  return isBelow(own) ? own : undefined;
}

/**
 * Lists the code files and package.json files in a directory and its subdirectories, except in `node_modules`. Throws a
 * PluginUntrustedError if the directory holds too many files.
 */
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
      throw new PluginUntrustedError(
        folder,
        `it holds more than ${MOST_FILES} files and directories, the limit for one approval. Move the plugin to a smaller directory.`,
      );
    }
  }
  return found;
}
