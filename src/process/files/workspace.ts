import { resolve } from 'node:path';
import { homeFolder } from './home-folder.js';
import { isInAny, isInside, realLocation } from './location.js';

/**
 * Returns the path of a workspace as written, and with links resolved if that differs. Returns an empty array for the
 * home directory and its parent directories, because they are not treated as workspaces.
 */
export function workspaceRoots(folder: string): readonly string[] {
  const named = resolve(folder);
  const real = realLocation(named);
  const home = homeFolder();
  if (home !== undefined && isInside(realLocation(home), real)) return [];
  return named === real ? [named] : [named, real];
}

/** Returns true if a path lies in a workspace, by name or with links followed. */
export function isInWorkspace(path: string, folder: string): boolean {
  return isInAny(path, workspaceRoots(folder));
}
