import { resolve } from 'node:path';
import { homeFolder } from './home-folder.js';
import { isInside, realLocation } from './location.js';

/**
 * Returns the paths of a workspace, as it was named and without links. The home folder, and a folder that holds it, is no
 * workspace: for such a folder the list is empty.
 */
export function workspaceRoots(folder: string): readonly string[] {
  const named = resolve(folder);
  const real = realLocation(named);
  const home = homeFolder();
  if (home !== undefined && isInside(realLocation(home), real)) return [];
  // Most often both are one.
  return [...new Set([named, real])];
}

/** Returns true if a path lies in a workspace, by name or with links followed. */
export function isInWorkspace(path: string, folder: string): boolean {
  const roots = workspaceRoots(folder);
  return roots.length > 0 && [path, realLocation(path)].some((place) => roots.some((root) => isInside(place, root)));
}
