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
  const named = absolute(homedir);
  if (named === undefined) return undefined;
  const folder = known.get(named) ?? ownOf(named);
  known.set(named, folder);
  return folder;
}

/** The home directory for each value of HOME, because a look-up of the account may ask a directory server. */
const known = new Map<string, string>();

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
