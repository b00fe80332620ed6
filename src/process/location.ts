import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Whether an absolute path is `root` or lies in it, going by the text alone. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/**
 * Where an absolute path leads with every link followed. Of what does not exist, the part that does is resolved; a link
 * that leads nowhere keeps its own name.
 */
export async function realLocation(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realLocation(parent), basename(path));
  }
}

/** As `realLocation`, at once. */
export function realLocationSync(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realLocationSync(parent), basename(path));
  }
}
