import { constants } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../process/files/error-code.js';
import { StoreCorruptError } from '../store-error.js';
import { PLAIN_FILE } from './small-file.js';

const DIGITS = 16;

/** A byte position in a log. */
export interface LogPosition {
  /** The first bytes of the log, which identify the file. */
  readonly mark: Buffer;
  readonly bytes: number;
}

/**
 * Stores the current length of a log, so that a later read detects a truncated log. Ignores a failure. The smaller
 * previous length then stays in place, so that less truncation is detected.
 */
export async function keepLength(folder: string, { mark, bytes }: LogPosition): Promise<void> {
  try {
    const handle = await open(pathIn(folder), PLAIN_FILE | constants.O_WRONLY | constants.O_CREAT, 0o600);
    const text = Buffer.from(`${bytes}`.padStart(DIGITS, '0'));
    await handle.write(Buffer.concat([mark, text]), 0).finally(() => handle.close());
  } catch {}
}

/** Empties the file with the stored length. The next read then does not check the length of the log. */
export async function emptySavedLength(folder: string): Promise<void> {
  const flag = PLAIN_FILE | constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  await writeFile(pathIn(folder), '', { flag, mode: 0o600 });
}

/**
 * Returns the stored length of a log, or 'missing'. Returns length 0 if the file is incomplete, for example after a
 * power failure.
 */
export async function readSavedLength(folder: string): Promise<LogPosition | 'missing'> {
  try {
    const text = await readFile(pathIn(folder), { flag: PLAIN_FILE | constants.O_RDONLY });
    const at = Math.max(text.length - DIGITS, 0);
    return { mark: text.subarray(0, at), bytes: Number(text.toString('latin1', at)) || 0 };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing';
    throw error;
  }
}

/**
 * Throws a StoreCorruptError if a log is shorter than its stored length, or if the stored length is missing. A killed
 * process never shortens a log below this length, so the file is damaged.
 *
 * An empty stored length counts as no limit, because the error message tells the user to write one. A stored length with
 * another `mark` belongs to a file that this one has replaced, and is ignored.
 */
export function checkLength(path: string, saved: LogPosition | 'missing', { mark, bytes }: LogPosition): void {
  const advice = `To use what is left, write an empty file to ${pathIn(dirname(path))}`;
  if (saved === 'missing') {
    throw new StoreCorruptError(path, `its length was stored beside it and is missing. ${advice}`);
  }
  if (bytes >= saved.bytes || !saved.mark.equals(mark)) return;
  const problem = `its end is missing: ${saved.bytes} bytes were saved, and ${bytes} are left`;
  throw new StoreCorruptError(path, `${problem}. ${advice}`);
}

function pathIn(folder: string): string {
  return join(folder, 'length');
}
