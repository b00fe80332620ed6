import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_FILES = 15;

/** Test folders without a matching folder in `src`: tests of the whole package, and test support. */
const APART = ['compat', 'conformance', 'docs', 'examples', 'fixtures', 'package', 'requirements', 'soak', 'support'];
/** Test folders about a behaviour that several source files implement. */
const BEHAVIOURS = ['agent/hooks', 'agent/resume'];
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

/** Reports tests in a folder that `src` does not have, and tests whose source file is in another folder. */
export function mirrorViolations(tests: readonly string[], sources: readonly string[]): string[] {
  const folders = new Set(['.', ...sources.map((path) => posix.dirname(path)), ...BEHAVIOURS]);
  return tests
    .filter((path) => path.endsWith('.test.ts') && !APART.includes(topOf(path)))
    .flatMap((path) => {
      if (!folders.has(posix.dirname(path))) return [`${path} lies in a folder that src does not have`];
      const name = posix.basename(path).replace('.test.ts', '.ts');
      const homes = sources.filter((source) => posix.basename(source) === name && topOf(source) === topOf(path));
      const home = posix.join(posix.dirname(path), name);
      return homes.length === 0 || homes.includes(home) ? [] : [`${path} is named after ${homes[0]}`];
    });
}

function topOf(path: string): string {
  return path.split('/')[0] ?? path;
}
