import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { realLocation } from './location.js';

/**
 * Returns the user's home directory, or undefined if the user has no home directory, as in a container without HOME.
 *
 * A repository may set HOME to one of its own directories, for example by a direnv file. So if HOME lies in a
 * repository, the home directory of the account is returned instead.
 */
export function homeFolder(): string | undefined {
  return findHome()?.folder;
}

/** Returns the user's home directory with links resolved. */
export function homeLocation(): string | undefined {
  return findHome()?.location;
}

interface Home {
  readonly folder: string;
  /** The home directory with links resolved. */
  readonly location: string;
}

/** The result for each value of HOME, because this is called before every start of a program. */
const known = new Map<string, Home>();

function findHome(): Home | undefined {
  const named = absolute(homedir);
  if (named === undefined) return undefined;
  const found = known.get(named);
  if (found !== undefined) return found;
  const folder = ownOf(named);
  const home = { folder, location: realLocation(folder) };
  known.set(named, home);
  return home;
}

function ownOf(named: string): string {
  const own = absolute(() => userInfo().homedir);
  if (own === undefined || realLocation(named) === realLocation(own)) return named;
  return isInRepository(realLocation(named)) ? own : named;
}

function absolute(read: () => string): string | undefined {
  try {
    const folder = read();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function isInRepository(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return true;
    if (folder === dirname(folder)) return false;
  }
}
