import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_FILES = 15;

/** Folders without a file limit: fixtures, API reports, lists of requirements. */
const LISTS = /^(fixtures|package\/api|requirements)(\/|$)/;

/** Returns the sorted paths of all files below a folder of the project, relative to that folder. */
export function readPaths(folder: 'src' | 'test'): string[] {
  const root = fileURLToPath(new URL(`../../../${folder}`, import.meta.url));
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(root, posix.join(entry.parentPath, entry.name)))
    .sort();
}

/** Returns the folders with too many files. */
export function folderViolations(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => count > MAX_FILES && !LISTS.test(folder))
    .map(([folder, count]) => `${folder} holds ${count} files, more than ${MAX_FILES}`);
}
