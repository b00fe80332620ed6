import { spawnSync } from 'node:child_process';
import { chmod, chown, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { expect, test } from 'vitest';
import { bundle } from '../../support/process/bundle.js';
import { addTexts, said } from '../../support/stores/file-session.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const NOBODY = 65_534;
const program = await bundle(fileURLToPath(new URL('../../fixtures/stores/file-reader.ts', import.meta.url)), true);
const policy = { ttlMs: 60_000, sessionTtlMs: 90_000, extensionBytes: 100, sessionBytes: 100 };

/** Makes a directory, and all in it, read-only for its owner, which is not root: root may write everywhere. */
async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (process.getuid?.() === 0) await chown(path, NOBODY, NOBODY);
    await chmod(path, entry.isDirectory() ? 0o500 : 0o400);
  }
  if (process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY);
  await chmod(folder, 0o500);
}

test('file stores load, list and get in a directory that is read-only, and refuse writes', async () => {
  const folder = join(await temporaryFolder(), 'store');
  const sessions = new FileSessionStore({ folder });
  await addTexts(sessions, 's', { texts: ['Hi'], details: { owner: 'ada' } });
  await sessions.claim('s', { token: 'x', run: 'x', ttlMs: 60_000 });
  await new FileStateStore({ folder }).set({ extension: 'e', session: 's' }, { key: 'k', value: 'x' }, policy);
  await makeReadOnly(folder);
  // The reader may read the program, and pass through the directories above.
  for (const path of [dirname(program), dirname(folder)]) await chmod(path, 0o755);
  await chmod(program, 0o644);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

  const { stdout, stderr } = spawnSync(process.execPath, [program, folder], { ...user, cwd: '/', encoding: 'utf8' });
  await chmod(folder, 0o700);
  for (const name of await readdir(folder)) await chmod(join(folder, name), 0o700);

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    loaded: {
      uid: expect.any(String),
      length: 1,
      offset: 0,
      entries: [said('Hi')],
      holder: { run: 'x', until: expect.any(Number) },
    },
    missing: null,
    listed: ['s'],
    got: 'x',
    stats: { bytes: 2, extensions: { e: 2 } },
    claim: 'ERR_STORE_FAILED',
    set: 'ERR_STORE_FAILED',
  });
});
