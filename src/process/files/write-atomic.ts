import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './error-code.js';

/** Ends the name of a file that is being written. */
export const DRAFT = '.draft';

/**
 * Writes a file that only the user can read: to a draft beside it, which is on the disk before it takes the place of the
 * file in one step. A crash leaves the old file or the new one. Call it under the lock of the file: the draft has one name.
 */
export async function writeAtomic(path: string, text: string): Promise<void> {
  const draft = path + DRAFT;
  await rm(draft, { force: true });
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    await rename(draft, path);
  } catch (error) {
    // On a full disk, others need its room.
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a change of names last, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EISDIR', 'EINVAL', 'EACCES')) throw error;
  }
}
