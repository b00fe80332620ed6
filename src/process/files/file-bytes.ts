import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { describeError } from '../../errors.js';

/** The bytes of a file, or why there are none. */
export type FileBytes = { readonly bytes: Buffer } | { readonly problem: string; readonly isAbsent: boolean };

/** Reads a file of at most `max` bytes. A pipe or a device is refused, and never keeps us waiting. */
export async function readBytes(path: string, max: number): Promise<FileBytes> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { problem: 'it is no file', isAbsent: false };
      if (stats.size > max) return { problem: `it has ${stats.size} bytes, more than ${max}`, isAbsent: false };
      const bytes = await file.readFile();
      return bytes.length > max ? { problem: `it has more than ${max} bytes`, isAbsent: false } : { bytes };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: describeError(error), isAbsent: code === 'ENOENT' || code === 'ENOTDIR' };
  }
}

/** Reads a file of text in UTF-8. */
export async function readText(path: string, max: number): Promise<{ text: string } | { problem: string }> {
  const read = await readBytes(path, max);
  if ('problem' in read) return { problem: read.problem };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return { problem: 'it is no text in UTF-8' };
  }
}
