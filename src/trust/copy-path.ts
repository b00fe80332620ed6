import { join } from 'node:path';
import { realLocation } from '../process/location.js';

/** The folder of all copies of extensions as they were approved, without links. */
export function copiesIn(stateDir: string): string {
  return join(realLocation(stateDir), 'approved');
}

/** Where the copy of an extension lies. */
export function copyPath(digest: string, stateDir: string): string {
  return join(copiesIn(stateDir), digest.replace(/^sha256:/, ''));
}
