import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** True if an absolute path is `root` or lies inside it. Compares strings only and follows no links. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** True if an absolute path lies in one of the directories, by name or with links followed. */
export function isInAny(path: string, roots: readonly string[]): boolean {
  return roots.length > 0 && [path, realLocation(path)].some((place) => roots.some((root) => isInside(place, root)));
}

/** The number of links that Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Returns an absolute path with every link followed. `..` applies after links are followed, as in the operating system.
 *
 * If the end of the path is missing, the existing part is resolved. A link with a missing target resolves to the
 * target, since a write through it would create that file.
 */
export function realLocation(path: string, links: number = MAX_LINKS): string {
  try {
    // The plain `realpathSync` removes `..` before it follows links.
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const folder = realLocation(parent, links);
    const target = readLink(path);
    if (target === undefined || links === 0) return join(folder, basename(path));
    return realLocation(isAbsolute(target) ? target : `${folder}/${target}`, links - 1);
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
