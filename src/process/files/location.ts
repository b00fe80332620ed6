import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Whether an absolute path is `root` or lies in it, going by the text alone. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** As many links in a row as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where an absolute path leads with every link followed, and only then a `..` behind it, as a system does. Of what does
 * not exist, the part that does is resolved: a link that leads nowhere is where a file would be made through it.
 */
export function realLocation(path: string, links: number = MAX_LINKS): string {
  try {
    // The other one takes a `..` off the text.
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
