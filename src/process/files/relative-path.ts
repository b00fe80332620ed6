import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, win32 } from 'node:path';
import type { ManifestProblem } from '../../internal/problem.js';
import { isInside } from './location.js';

/** Returns the problem with a path that must be relative and stay inside its directory. Looks at the string only. */
export function problemOfRelativePath(path: string): string | undefined {
  if (path === '') return 'the path must not be empty';
  if (path.includes('\0')) return 'the path must not contain a NUL character';
  if (isAbsolute(path) || win32.isAbsolute(path) || /^[A-Za-z]:/.test(path))
    return 'the path must be relative, not absolute';
  if (path.split(/[\\/]/).includes('..')) return 'the path must stay in its directory: remove ".."';
  return undefined;
}

/** Returns the absolute path with every link followed. Returns undefined if it is missing or lies outside of `root`. */
export async function resolveInside(root: string, path: string): Promise<string | undefined> {
  if (problemOfRelativePath(path) !== undefined) return undefined;
  try {
    const found = await realpath(join(root, path));
    return isInside(found, await realpath(root)) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** True if the path exists. Also true for a link with a missing target. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Returns a problem for each path of a manifest key that is missing or lies outside of the directory. */
export async function missingPaths(
  root: string,
  { paths, key }: { readonly paths: readonly string[]; readonly key: string },
): Promise<readonly ManifestProblem[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      if ((await resolveInside(root, path)) !== undefined) return [];
      const problem = (await isThere(join(root, path)))
        ? 'must be a path inside the directory, and exist'
        : 'is missing';
      return [{ path: key, message: `${JSON.stringify(path)} ${problem}` }];
    }),
  );
  return found.flat();
}
