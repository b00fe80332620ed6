import { copyFile, lstat, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exactText, readBytes } from './file-bytes.js';

/** The text of a state file. `isAbsent` is true if nothing was ever written at the path. */
export type StateFile = { readonly text: string } | { readonly problem: string; readonly isAbsent: boolean };

/**
 * Reads a file with the state of this library. Bytes that were not written as text are a problem. A link without a target does not count as absent, because the state may
 * be stored at the target.
 */
export async function readStateFile(path: string, max: number): Promise<StateFile> {
  const read = await readBytes(path, max);
  if ('bytes' in read) {
    const text = exactText(read.bytes);
    return text === undefined ? { problem: 'the file must be valid UTF-8', isAbsent: false } : { text };
  }
  return { problem: read.problem, isAbsent: read.isAbsent && (await isUnwritten(path)) };
}

/** True if the path is missing, and its nearest existing parent is a directory. */
async function isUnwritten(path: string): Promise<boolean> {
  const isPresent = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isPresent) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined && folder !== dirname(folder)) continue;
    const target = await stat(folder).catch(() => undefined);
    return target?.isDirectory() === true;
  }
}

/** Keeps a damaged file as `<path>.<time>.backup`. A link or a pipe is renamed. Rejects for a directory. */
export async function backUp(path: string): Promise<void> {
  const backup = `${path}.${Date.now()}.backup`;
  const found = await lstat(path);
  if (found.isFile() || found.isDirectory()) await copyFile(path, backup);
  else await rename(path, backup);
}
