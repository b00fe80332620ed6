import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hasCode } from '../../process/files/error-code.js';
import { DRAFT } from '../../process/files/write-atomic.js';
import { encodeLine, parseLines } from './line.js';

/** Flags for opening a file: fail if it is a symbolic link, and do not wait if it is a named pipe. */
export const PLAIN_FILE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads the fields of a file with a single line. Returns undefined if the file is missing or damaged. */
export async function readSmallFile(path: string): Promise<readonly string[] | undefined> {
  try {
    const bytes = await readFile(path, { flag: PLAIN_FILE | constants.O_RDONLY });
    return parseLines(bytes)?.lines[0]?.fields;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'EISDIR')) return undefined;
    throw error;
  }
}

/**
 * Atomically replaces a file by a file with a single line. Does not flush it to disk, so a power failure may damage it.
 * `check` must reject if this process has lost the lock of the directory.
 */
export async function replaceSmallFile(
  path: string,
  fields: readonly string[],
  check: () => Promise<void>,
): Promise<void> {
  // A process that has lost the lock must not rename the draft of another process.
  const draft = `${path}-${randomBytes(8).toString('hex')}${DRAFT}`;
  try {
    await writeFile(draft, encodeLine(fields), { flag: 'wx', mode: 0o600 });
    await check();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}
