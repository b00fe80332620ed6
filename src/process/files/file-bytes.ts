import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { describeError } from '../../errors.js';

/** The bytes of a file, or the reason why they could not be read. */
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
    const { code } = error as NodeJS.ErrnoException;
    return { problem: describeError(error), isAbsent: code === 'ENOENT' || code === 'ENOTDIR' };
  }
}

/** Reads a UTF-8 file of at most `max` bytes. */
export async function readText(path: string, max: number): Promise<{ text: string } | { problem: string }> {
  const read = await readBytes(path, max);
  if ('problem' in read) return { problem: read.problem };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return { problem: 'the file must be valid UTF-8' };
  }
}

/** Returns the string that was written as these bytes, with its byte order mark. Undefined for invalid UTF-8. */
export function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
