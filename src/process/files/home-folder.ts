import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** Returns the user's home directory, or undefined if the user has no home directory, as in a container without HOME. */
export function homeFolder(): string | undefined {
  try {
    const folder = homedir();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
