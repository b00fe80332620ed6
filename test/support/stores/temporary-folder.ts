import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates an empty directory that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the path of the only log in a directory of a store. */
export async function logIn(folder: string): Promise<string> {
  const [name = ''] = (await readdir(folder)).filter((it) => /^(state|session)-/.test(it));
  return join(folder, name, 'log');
}
