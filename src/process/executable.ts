import { realpathSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve, sep } from 'node:path';
import { isInAny, isInside, realLocation } from './files/location.js';
import { findBadFile, look, type SpawnFailure } from './spawn-failure.js';

/** A command to find, and the directories to search. */
export interface ExecutableSearch {
  /** An absolute path, a path relative to `base`, or a bare name, which is searched for in `path`. */
  readonly command: string;
  readonly base: string;
  /** The value of a PATH variable. */
  readonly path: string | undefined;
  /** Directories that a bare name must not resolve into, for example the workspace. */
  readonly exclude: readonly string[];
}

/** A program that was found. */
export interface Executable {
  /** The path before links are followed. Pass it as `argv0` to programs that read their own name. */
  readonly path: string;
  /** The path with every link followed. Spawn this one. */
  readonly realPath: string;
}

/**
 * Finds the regular file that a command names, or returns the reason why no file was found. The start of the program
 * checks later that the file can be executed.
 *
 * A bare name is searched for in the absolute entries of PATH. Entries and programs inside `exclude` are skipped, both
 * as written and with links followed.
 */
export function resolveExecutable(search: ExecutableSearch): Executable | { failure: SpawnFailure } {
  const { command, base } = search;
  if (!isAbsolute(command) && !command.includes('/') && !command.includes(sep)) return searchPath(search);
  const path = resolve(base, command);
  const failure = findBadFile(path);
  return failure ? { failure } : { path, realPath: realLocation(path) };
}

/** Returns the first file with the name that may be executed, or else the first file with the name. */
function searchPath({ command, path, exclude }: ExecutableSearch): Executable | { failure: SpawnFailure } {
  let unfit: Executable | undefined;
  for (const folder of safePathEntries(path, exclude)) {
    for (const name of candidateNames(command)) {
      const candidate = join(folder, name);
      const found = look(candidate);
      if (!found?.isFile()) continue;
      const realPath = realpathSync.native(candidate);
      if (exclude.some((root) => isInside(realPath, root))) continue;
      if ((found.mode & 0o111) !== 0) return { path: candidate, realPath };
      unfit ??= { path: candidate, realPath };
    }
  }
  const hint = /\s/.test(command)
    ? 'Pass the arguments as a separate list.'
    : 'Install it, or give its absolute path; relative PATH entries and those in the workspace are ignored.';
  return unfit ?? { failure: { code: 'not-found', message: `"${command}" was not found in PATH`, hint } };
}

/** Leaves out batch files on Windows, because they need a shell. */
function candidateNames(command: string): string[] {
  return process.platform === 'win32' && extname(command) === '' ? [`${command}.exe`, `${command}.com`] : [command];
}

/** Returns a PATH value without the entries that are empty, relative or inside an excluded directory. */
export function safePath(path: string | undefined, exclude: readonly string[]): string {
  return safePathEntries(path, exclude).join(delimiter);
}

/** Returns the entries of a PATH value that may be searched. */
function safePathEntries(path = '', exclude: readonly string[]): readonly string[] {
  const roots = [...exclude, ...exclude.map((folder) => realLocation(folder))];
  return path.split(delimiter).filter((entry) => isAbsolute(entry) && !isInAny(entry, roots));
}
