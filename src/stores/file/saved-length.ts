import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../../process/files/error-code.js';

const FLAGS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const DIGITS = 16;

/** The length of a log after a durable write. */
export interface SavedLength {
  /** The start of the log, which identifies the file. */
  readonly mark: Buffer;
  readonly bytes: number;
}

export async function writeSavedLength(path: string, { mark, bytes }: SavedLength): Promise<void> {
  const handle = await open(path, FLAGS | constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    const text = Buffer.from(`${bytes}`.padStart(DIGITS, '0'));
    await handle.write(Buffer.concat([mark, text]), 0);
  } finally {
    await handle.close();
  }
}

/** Makes the length say nothing about the log. */
export async function emptySavedLength(path: string): Promise<void> {
  const handle = await open(path, FLAGS | constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  await handle.close();
}

/** Returns the written length. An incomplete file, such as one that a power failure has emptied, counts as length 0. */
export async function readSavedLength(path: string): Promise<SavedLength | 'missing'> {
  try {
    const handle = await open(path, FLAGS | constants.O_RDONLY);
    try {
      const text = await handle.readFile();
      const at = Math.max(text.length - DIGITS, 0);
      return { mark: text.subarray(0, at), bytes: Number(text.toString('latin1', at)) || 0 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing';
    throw error;
  }
}
