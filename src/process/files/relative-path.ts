import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, win32 } from 'node:path';
import type { ManifestProblem } from '../../internal/problem.js';
import { isInside } from './location.js';

/** What is wrong with a path that has to lead into its own folder, by its text. */
export function problemOfRelativePath(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.includes('\0')) return 'it holds a NUL character';
  if (isAbsolute(path) || win32.isAbsolute(path) || /^[A-Za-z]:/.test(path))
    return 'it is absolute: give a path in the folder';
  if (path.split(/[\\/]/).includes('..')) return 'it leads out of its folder: leave ".." out';
  return undefined;
}

/** Where a path in a folder leads with every link followed; undefined where it does not exist, or leads out of it. */
export async function resolveInside(root: string, path: string): Promise<string | undefined> {
  if (problemOfRelativePath(path) !== undefined) return undefined;
  try {
    const found = await realpath(join(root, path));
    return isInside(found, await realpath(root)) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whether there is anything at a path, be it a link that leads nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Those of the paths that a key of a manifest names which lead to nothing in the folder. */
export async function missingPaths(
  root: string,
  { paths, key }: { readonly paths: readonly string[]; readonly key: string },
): Promise<readonly ManifestProblem[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      if ((await resolveInside(root, path)) !== undefined) return [];
      const what = (await isThere(join(root, path))) ? 'leads out of the folder, or nowhere' : 'is not there';
      return [{ path: key, message: `${JSON.stringify(path)} ${what}` }];
    }),
  );
  return found.flat();
}
