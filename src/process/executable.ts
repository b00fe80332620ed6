import { realpathSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve, sep } from 'node:path';
import { isInside, realLocation } from './files/location.js';
import { explainSpawnError, failure, findBadExecutable, type SpawnFailure } from './spawn-failure.js';

/** Where a program is looked for. */
export interface ExecutableSearch {
  /** An absolute path, a path relative to `base`, or a bare name, which is looked up in `path`. */
  readonly command: string;
  readonly base: string;
  /** The text of a PATH variable. */
  readonly path: string | undefined;
  /** Folders that no bare name may lead into, such as the workspace. */
  readonly exclude: readonly string[];
  /** Whether a program that is given by its path is only located, since whoever starts it looks at it. Default false. */
  readonly unseen?: boolean | undefined;
}

/** A program that was found. */
export interface Executable {
  /** What it was found as. Programs that look at their own name want it as `argv0`. */
  readonly path: string;
  /** The same with every link followed: this is what is to be spawned. */
  readonly realPath: string;
}

/**
 * Finds the program that a command names, or says why there is none. A bare name is looked up in the absolute entries of
 * PATH that lie outside of `exclude`, by their text and with links followed, and so must the program itself.
 */
export function resolveExecutable(search: ExecutableSearch): Executable | { failure: SpawnFailure } {
  const { command, base } = search;
  if (command === '' || command.includes('\0')) {
    return { failure: failure('bad-argument', 'The command is empty or holds a NUL', 'Name a program.') };
  }
  if (isAbsolute(command) || command.includes('/') || command.includes(sep)) {
    const path = resolve(base, command);
    return search.unseen ? locate(path) : inspect(path);
  }
  return searchPath(search);
}

function inspect(path: string): Executable | { failure: SpawnFailure } {
  const found = findBadExecutable(path);
  return found ? { failure: found } : locate(path);
}

function locate(path: string): Executable | { failure: SpawnFailure } {
  try {
    return { path, realPath: realpathSync.native(path) };
  } catch (error) {
    return { failure: explainSpawnError(error, path) };
  }
}

function searchPath({ command, path, exclude }: ExecutableSearch) {
  let unfit: SpawnFailure | undefined;
  for (const folder of safePathEntries(path, exclude)) {
    for (const name of candidateNames(command)) {
      const found = inspect(join(folder, name));
      if ('failure' in found) {
        if (found.failure.code !== 'not-found') unfit ??= found.failure;
      } else if (!exclude.some((root) => isInside(found.realPath, root))) return found;
    }
  }
  const hint = /\s/.test(command)
    ? 'Give its arguments as a list of their own.'
    : 'Install it, or give its absolute path; PATH entries that are relative or in the workspace do not count.';
  return { failure: unfit ?? failure('not-found', `"${command}" is in no folder of PATH`, hint) };
}

/** A batch file needs a shell, so it is none of them. */
function candidateNames(command: string): string[] {
  return process.platform === 'win32' && extname(command) === '' ? [`${command}.exe`, `${command}.com`] : [command];
}

/** A PATH without the entries that are empty, relative, or in one of the folders. */
export function safePath(path: string | undefined, exclude: readonly string[]): string {
  return safePathEntries(path, exclude).join(delimiter);
}

const MANY_PATHS = 100;
const knownEntries = new Map<string, readonly string[]>();

/**
 * Looked up once for each PATH: whoever could make an entry or a folder lead elsewhere later could as well put a program
 * into it, and where the program itself lies is looked at each time.
 */
function safePathEntries(path = '', exclude: readonly string[]): readonly string[] {
  const key = [path, ...exclude].join('\0');
  const known = knownEntries.get(key) ?? findSafeEntries(path, exclude);
  if (knownEntries.size >= MANY_PATHS) knownEntries.clear();
  knownEntries.set(key, known);
  return known;
}

function findSafeEntries(path: string, exclude: readonly string[]): string[] {
  const roots = [...exclude, ...exclude.map((folder) => realLocation(folder))];
  return path.split(delimiter).filter((entry) => {
    if (!isAbsolute(entry)) return false;
    const places = [resolve(entry), realLocation(entry)];
    return !roots.some((root) => places.some((place) => isInside(place, root)));
  });
}
