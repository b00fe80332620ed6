import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** The home folder of the user. Undefined where there is none, such as in a container without HOME and without a name. */
export function homeFolder(): string | undefined {
  try {
    const folder = homedir();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
