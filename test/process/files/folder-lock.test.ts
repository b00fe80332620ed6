import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStateStore } from 'keelson/file';
import { expect, test, vi } from 'vitest';
import * as locks from '../../../src/process/files/folder-lock.js';
import { newOwner } from '../../../src/process/files/lock-owner.js';
import { resolveStatePolicy } from '../../../src/state/state-policy.js';
import { lockFailure } from '../../../src/stores/store-error.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { startStoreProcess } from '../../support/stores/store-process.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

type LockRequest = Omit<locks.LockRequest, 'failure'>;

const lockFolder = (folder: string, request: LockRequest) =>
  locks.lockFolder(folder, { ...request, failure: lockFailure });

const quick = { create: true, timeoutMs: 200 };

/** Creates a directory that `owner` has locked. */
async function heldFolder(owner: string): Promise<string> {
  const folder = join(await temporaryFolder(), 'held');
  await mkdir(folder);
  await writeFile(join(folder, owner), '');
  return folder;
}

/** Returns an owner name with one part replaced: machine, pid, start time or nonce. */
function ownerWith(part: 1 | 2 | 3 | 4, value: string): string {
  return newOwner().split('.').with(part, value).join('.');
}

async function expectLock(lock: Promise<locks.FolderLock | undefined>): Promise<locks.FolderLock> {
  const held = await lock;
  if (held === undefined) return expect.unreachable('no lock');
  return held;
}

test('only one of 30 processes holds the lock at a time', async () => {
  const folder = join(await temporaryFolder(), 'a');
  let holders = 0;
  let turns = 0;

  await Promise.all(
    Array.from({ length: 30 }, async () => {
      const lock = await expectLock(lockFolder(folder, { create: true, timeoutMs: 20_000 }));
      holders += 1;
      expect(holders).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      holders -= 1;
      turns += 1;
      await lock.release();
    }),
  );

  expect(turns).toBe(30);
  expect(await readdir(folder)).toEqual(['free']);
});

test('a missing directory is created only with `create`', async () => {
  const folder = join(await temporaryFolder(), 'a');

  expect(await lockFolder(folder, { create: false, timeoutMs: 0 })).toBe(undefined);
  await (await expectLock(lockFolder(folder, quick))).release();
  await (await expectLock(lockFolder(folder, { create: false, timeoutMs: 0 }))).remove();
  expect(await lockFolder(folder, { create: false, timeoutMs: 0 })).toBe(undefined);
});

test('a directory that lost its lock file gets a new one, which one of several processes holds', async () => {
  const folder = join(await temporaryFolder(), 'a');
  await (await expectLock(lockFolder(folder, quick))).release();
  await rm(join(folder, 'free'));

  expect(await rejectionOf(lockFolder(folder, { create: true, timeoutMs: 50 }))).toMatchObject({
    code: 'ERR_STORE_BUSY',
  });
  let holders = 0;
  const hold = async () => {
    const lock = await expectLock(lockFolder(folder, { create: true, timeoutMs: 10_000, silentMs: 100 }));
    holders += 1;
    expect(holders).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    holders -= 1;
    await lock.release();
  };
  await Promise.all(Array.from({ length: 5 }, hold));
  expect(await readdir(folder)).toEqual(['free']);
});

test('waiting too long for a live holder gives a typed error', async () => {
  const folder = join(await temporaryFolder(), 'a');
  const holder = startStoreProcess({ folder, task: 'hold', name: '', count: 0 });
  await holder.said(1);

  const error = await rejectionOf(lockFolder(folder, { ...quick, silentMs: 50 }));
  expect(error).toMatchObject({ code: 'ERR_STORE_BUSY', retryable: true, folder, lost: false });

  // After the holder is killed, its lock is taken over.
  holder.child.kill('SIGKILL');
  await holder.ended;
  await (await expectLock(lockFolder(folder, { create: true, timeoutMs: 1_000 }))).release();
});

test.runIf(process.platform === 'linux')(
  'a live process with the pid of a dead holder does not count as the holder',
  async () => {
    const folder = await heldFolder(ownerWith(3, '1').replace(`.${process.pid}.`, `.${process.ppid}.`));
    await writeFile(join(folder, 'log.draft'), 'half of a');

    await (await expectLock(lockFolder(folder, { ...quick, timeoutMs: 0 }))).release();
    expect(await readdir(folder)).toEqual(['free']);
  },
);

test('one of several waiting processes takes over from a dead holder', async () => {
  const folder = await heldFolder(ownerWith(2, '2147483646'));
  let holders = 0;

  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const lock = await expectLock(lockFolder(folder, { create: true, timeoutMs: 20_000 }));
      holders += 1;
      expect(holders).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      holders -= 1;
      await lock.release();
    }),
  );

  expect(await readdir(folder)).toEqual(['free']);
});

test('a holder on another machine keeps the lock until its heartbeat stops', async () => {
  const owner = ownerWith(1, '0123456789abcdef');
  const folder = await heldFolder(owner);
  let beats = 0;
  const beating = setInterval(() => {
    beats += 1;
    void utimes(join(folder, owner), beats, beats);
  }, 20);

  const error = await rejectionOf(lockFolder(folder, { create: true, timeoutMs: 600, silentMs: 300 }));
  clearInterval(beating);
  expect(error).toMatchObject({ code: 'ERR_STORE_BUSY' });

  const start = performance.now();
  await (await expectLock(lockFolder(folder, { create: true, timeoutMs: 5_000, silentMs: 300 }))).release();
  expect(performance.now() - start).toBeGreaterThan(290);
});

test('a holder updates its heartbeat while it holds the lock', async () => {
  const folder = join(await temporaryFolder(), 'a');
  const lock = await expectLock(lockFolder(folder, quick));
  const [name = ''] = await readdir(folder);
  const beat = async () => (await stat(join(folder, name))).mtimeMs;
  const first = await beat();

  await expect.poll(beat, { timeout: 4_000 }).toBeGreaterThan(first);
  await lock.release();
});

test("a holder that lost its lock while it slept gets an error, and does not release the new holder's lock", async () => {
  const folder = join(await temporaryFolder(), 'a');
  const lock = await expectLock(lockFolder(folder, quick));
  const [mine = ''] = await readdir(folder);
  const other = newOwner();
  await rename(join(folder, mine), join(folder, other));

  for (const attempt of [() => lock.check(), () => lock.remove(), () => lock.release()]) {
    expect(await rejectionOf(attempt())).toMatchObject({ code: 'ERR_STORE_BUSY', lost: true });
  }
  expect(await readdir(folder)).toEqual([other]);
});

test('a holder that lost its lock between the check and the rename replaces no file', async () => {
  const parent = await temporaryFolder();
  const [folder, path] = [join(parent, 'a'), join(parent, 'state.json')];
  await writeFile(path, 'new');
  const lock = await expectLock(lockFolder(folder, quick));
  const { check } = lock;
  lock.check = async () => {
    await check.call(lock);
    // A process that takes over the lock removes the drafts first.
    for (const name of await readdir(folder)) if (name.endsWith('.draft')) await rm(join(folder, name));
  };

  await expect(lock.replace(path, 'old')).rejects.toThrow();

  expect(await readFile(path, 'utf8')).toBe('new');
});

test('a holder replaces a file, and leaves no draft behind if that fails', async () => {
  const parent = await temporaryFolder();
  const [folder, path] = [join(parent, 'a'), join(parent, 'state.json')];
  const lock = await expectLock(lockFolder(folder, quick));
  await lock.replace(path, 'new');
  await mkdir(join(parent, 'taken', 'inner'), { recursive: true });

  await expect(lock.replace(join(parent, 'taken'), 'new')).rejects.toThrow();

  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toHaveLength(1);
  expect((await readdir(parent)).sort()).toEqual(['a', 'state.json', 'taken']);
});

test('the lock of an ended worker thread expires', async () => {
  const folder = await heldFolder(newOwner());

  const error = await rejectionOf(lockFolder(folder, { create: true, timeoutMs: 100 }));
  expect(error).toMatchObject({ code: 'ERR_STORE_BUSY' });
  await (await expectLock(lockFolder(folder, { create: true, timeoutMs: 5_000, silentMs: 300 }))).release();
});

test('clearExtension deletes the state of other sessions while one session is locked', async () => {
  const folder = await temporaryFolder();
  const store = new FileStateStore({ folder });
  for (const session of ['a', 'b', 'c']) {
    await store.set({ extension: 'e', session }, { key: 'k', value: 'v' }, resolveStatePolicy());
  }
  const [first = ''] = await readdir(folder);
  const lock = await expectLock(lockFolder(join(folder, first), { create: false, timeoutMs: 1_000 }));
  const cleared = store.clearExtension('e');

  await vi.waitFor(async () => expect(await readdir(folder)).toEqual([first]), 5_000);
  await lock.release();
  expect(await cleared).toBe(3);
});
