import { copyFile, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './error-code.js';

/** Suffix of a file that is being written. */
export const DRAFT = '.draft';

/** The path of the draft of a file, and a last check before the draft replaces the file. */
interface DraftPlace {
  readonly draft: string;
  readonly check?: () => Promise<void>;
}

/**
 * Replaces a file in one step; only the user can read the new file. After a crash, the file has either the old or the
 * new content.
 *
 * Writes to a draft file first. The default draft has a fixed name beside the file, so call this function only while
 * holding the lock of the file.
 */
export async function writeAtomic(
  path: string,
  text: string,
  { draft, check }: DraftPlace = { draft: path + DRAFT },
): Promise<void> {
  await rm(draft, { force: true });
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    await check?.();
    await rename(draft, path);
  } catch (error) {
    // Frees the space: the disk may be full.
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Flushes a directory to disk after a rename, if the file system supports it. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EISDIR', 'EINVAL', 'EACCES')) throw error;
  }
}

/** Keeps a damaged file as `<path>.<time>.backup`. A link or a pipe is renamed. Rejects for a directory. */
export async function backUp(path: string): Promise<void> {
  const backup = `${path}.${Date.now()}.backup`;
  const found = await lstat(path);
  if (found.isFile() || found.isDirectory()) await copyFile(path, backup);
  else await rename(path, backup);
}
