import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../errors.js';
import { hasCode } from './error-code.js';
import { isThere } from './relative-path.js';

/**
 * The bytes of a file, or the reason why they could not be read. `isAbsent` is true if the path does not exist. It is
 * false for a link with a missing target, because the target may be on a drive that is not mounted.
 */
export type FileBytes = { readonly bytes: Buffer } | { readonly problem: string; readonly isAbsent: boolean };

/** Reads a file of at most `max` bytes. Refuses a pipe or a device without waiting for it. */
export async function readBytes(path: string, max: number): Promise<FileBytes> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { problem: 'the path must lead to a file', isAbsent: false };
      if (stats.size > max)
        return { problem: `the file must have at most ${max} bytes, got ${stats.size}`, isAbsent: false };
      const bytes = await file.readFile();
      return bytes.length > max ? { problem: `the file must have at most ${max} bytes`, isAbsent: false } : { bytes };
    } finally {
      await file.close();
    }
  } catch (error) {
    const isAbsent = hasCode(error, 'ENOENT', 'ENOTDIR') && (await isUnwritten(path));
    const isDangling = hasCode(error, 'ENOENT') && !isAbsent;
    return {
      problem: isDangling ? 'the path goes through a symbolic link without a target' : describeError(error),
      isAbsent,
    };
  }
}

/** True if the path is missing, and its nearest existing parent is a directory. */
async function isUnwritten(path: string): Promise<boolean> {
  let folder = path;
  while (!(await isThere(folder)) && folder !== dirname(folder)) folder = dirname(folder);
  const found = await stat(folder).catch(() => undefined);
  return folder !== path && found?.isDirectory() === true;
}

/**
 * The text of a file, or the reason why it could not be read. `isAbsent` has the same meaning as in {@link FileBytes}.
 */
export type FileText = { readonly text: string } | { readonly problem: string; readonly isAbsent: boolean };

/** Reads a UTF-8 file of at most `max` bytes, without its byte order mark. */
export async function readText(path: string, max: number): Promise<FileText> {
  const read = await readBytes(path, max);
  if ('problem' in read) return read;
  const text = exactText(read.bytes);
  return text === undefined
    ? { problem: 'the file must be valid UTF-8', isAbsent: false }
    : { text: text.replace(/^\uFEFF/, '') };
}

/** Returns the string that was written as these bytes, with its byte order mark. Undefined for invalid UTF-8. */
export function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
