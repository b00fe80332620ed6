import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../../process/files/error-code.js';

const FLAGS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const DIGITS = 16;

/** Writes the length of a log after a durable write. `mark` is the start of the log, which identifies the file. */
export async function writeSavedLength(path: string, mark: Buffer, bytes: number): Promise<void> {
  const handle = await open(path, FLAGS | constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    const text = Buffer.from(`${bytes}`.padStart(DIGITS, '0'));
    await handle.write(Buffer.concat([mark, text]), 0);
  } finally {
    await handle.close();
  }
}

/** Returns the written length, or 0 if none was written for this mark. */
export async function readSavedLength(path: string, mark: Buffer): Promise<number> {
  try {
    const handle = await open(path, FLAGS | constants.O_RDONLY);
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(mark.length + DIGITS), { position: 0 });
      const isOurs = bytesRead === buffer.length && buffer.subarray(0, mark.length).equals(mark);
      return isOurs ? Number(buffer.toString('latin1', mark.length)) || 0 : 0;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}
