import fs, { chmodSync, truncateSync, writeFileSync } from 'node:fs';
import type { Approval } from 'keelson/trust';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TrustStore } from '../../../src/trust/approvals/store.js';
import { makePlace } from '../../support/trust/place.js';

const approval: Approval = {
  ...{ kind: 'hook', name: 'a', workspace: '/ws', digest: `sha256:${'a'.repeat(64)}`, scripts: {} },
  approvedAt: '2026-01-01T00:00:00.000Z',
};

test('a later change is seen, although the file had been read', async () => {
  const { stateDir, workspaceDir } = makePlace();
  const other = new TrustStore({ stateDir, workspaceDir });
  await other.approve(approval);
  const store = new TrustStore({ stateDir, workspaceDir });
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  onTestFinished(() => now.mockRestore());
  expect(await store.list()).toHaveLength(1);

  await other.approve({ ...approval, name: 'b' });

  expect(await store.list()).toHaveLength(2);
});

test('fingerprints that are known already are not written again', async () => {
  const { stateDir, workspaceDir, storePath } = makePlace();
  const store = new TrustStore({ stateDir, workspaceDir });
  await store.noteSeen(new Map([['a', 'x']]));
  const { ino } = fs.statSync(storePath);

  await store.noteSeen(new Map([['a', 'x']]));

  expect(fs.statSync(storePath).ino).toBe(ino);
});

test('a state directory in the workspace is refused before anything is created in it', async () => {
  const { workspaceDir } = makePlace();
  const stateDir = `${workspaceDir}/state`;

  await expect(new TrustStore({ stateDir, workspaceDir }).approve(approval)).rejects.toThrow('lies in the workspace');
  expect(fs.existsSync(stateDir)).toBe(false);
});

test('a file on Windows counts whatever its mode, which does not tell who may write there', async () => {
  const { stateDir, workspaceDir, storePath, logger } = makePlace();
  await new TrustStore({ stateDir, workspaceDir }).approve(approval);
  chmodSync(storePath, 0o666);
  const store = new TrustStore({ stateDir, workspaceDir, logger });
  expect(await store.list()).toEqual([]);

  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'win32' });
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));

  expect(await store.list()).toEqual([approval]);
});

test.runIf(process.platform === 'linux')('reading the file leaves no descriptor open', async () => {
  const { stateDir, workspaceDir } = makePlace();
  const store = new TrustStore({ stateDir, workspaceDir });
  await store.approve(approval);
  const open = () => fs.readdirSync('/proc/self/fd').length;
  await store.list();
  const before = open();
  for (let read = 0; read < 100; read += 1) await store.list();

  expect(open()).toBeLessThan(before + 50);
});

test('a file may have at most 64 MiB', async () => {
  const { stateDir, workspaceDir, storePath, logger } = makePlace();
  const store = new TrustStore({ stateDir, workspaceDir, logger });
  writeFileSync(storePath, '', { mode: 0o600 });

  truncateSync(storePath, 64 * 1024 * 1024 + 1);
  await expect(store.list()).rejects.toMatchObject({ code: 'ERR_TRUST_STORE' });
  truncateSync(storePath, 64 * 1024 * 1024);
  expect(await store.list()).toEqual([]);
});
