import { randomUUID } from 'node:crypto';
import { link, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { TrustStoreError } from '../error.js';

/** Whoever holds it for longer has crashed: what is done under the lock takes milliseconds. */
const STALE_MS = 5_000;
const PATIENCE_MS = 15_000;

/** Runs `act` while no other process that uses this lock does. A lock that a crash left behind is taken over. */
export async function withFileLock<T>(path: string, act: () => Promise<T>): Promise<T> {
  const token = randomUUID();
  await acquire(path, token);
  try {
    return await act();
  } finally {
    if ((await readFile(path, 'utf8').catch(() => '')) === token) await unlink(path).catch(() => {});
  }
}

async function acquire(path: string, token: string): Promise<void> {
  const start = performance.now();
  while (!(await take(path, token))) {
    if (await isStale(path)) await breakLock(path);
    else await sleep(10 + Math.random() * 30);
    if (performance.now() - start > PATIENCE_MS)
      throw new TrustStoreError(`${path} is held by another process. Remove it if none runs.`);
  }
}

async function take(path: string, token: string): Promise<boolean> {
  try {
    await writeFile(path, token, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new TrustStoreError(`${path} could not be made.`, { cause });
  }
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  // One from the future was made before the clock was set back.
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_MS;
}

/** Of several that find it stale, one moves it away. Who moved a newer one away puts it back. */
async function breakLock(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => {});
  if ((await stat(aside).catch(() => undefined)) && !(await isStale(aside))) await link(aside, path).catch(() => {});
  await unlink(aside).catch(() => {});
}
