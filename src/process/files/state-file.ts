import { copyFile, lstat, rename } from 'node:fs/promises';
import { exactText, readBytes } from './file-bytes.js';

/** The text of a state file, or the reason why it could not be read. `isAbsent` is that of {@link FileBytes}. */
export type StateFile = { readonly text: string } | { readonly problem: string; readonly isAbsent: boolean };

/** Reads a file with the state of this library. Bytes that were not written as text are a problem. */
export async function readStateFile(path: string, max: number): Promise<StateFile> {
  const read = await readBytes(path, max);
  if ('bytes' in read) {
    const text = exactText(read.bytes);
    return text === undefined ? { problem: 'the file must be valid UTF-8', isAbsent: false } : { text };
  }
  return read;
}

/**
 * Keeps a damaged file as `<path>.<time>.backup`: copies a regular file, and renames a link or a pipe. Rejects for a
 * directory.
 */
export async function backUp(path: string): Promise<void> {
  const backup = `${path}.${Date.now()}.backup`;
  const found = await lstat(path);
  if (found.isFile() || found.isDirectory()) await copyFile(path, backup);
  else await rename(path, backup);
}
