import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * Returns the home directory of the user. Returns undefined if there is none, for example in a container without HOME.
 */
export function homeFolder(): string | undefined {
  try {
    const folder = homedir();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
