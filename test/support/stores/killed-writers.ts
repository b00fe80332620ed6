import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { expect } from 'vitest';
import { addTexts, textsOf } from './file-session.js';
import { startStoreProcess } from './store-process.js';

const policy = { ttlMs: 3_600_000, sessionTtlMs: 3_600_000, extensionBytes: 1_000_000, sessionBytes: 1_000_000 };

const ENDLESS = 1_000_000_000;

const never = (message: string) => expect.unreachable(message);
const neverCalled = { debug: never, info: never, warn: never, error: never };

/** Starts two writing processes, kills both after at most `writes` writes, and returns the acknowledged writes. */
async function killWriters(folder: string, writes: number) {
  const state = startStoreProcess<{ key: string; at: number }>({ folder, task: 'state', name: 'e', count: ENDLESS });
  const session = startStoreProcess<{ at: number }>({ folder, task: 'session', name: 'm', count: ENDLESS });
  const after = 1 + Math.floor(Math.random() * writes);
  const ends = [state, session].map(async (it) => {
    await it.said(after);
    // A random delay, so that the kill also happens in the middle of a write.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
    it.child.kill('SIGKILL');
    return it.ended;
  });
  expect(await Promise.all(ends)).toEqual(['SIGKILL', 'SIGKILL']);
  return { state: state.lines, session: session.lines };
}

/** Kills two processes after at most `writes` writes to the stores of a directory, and checks that no acknowledged write is lost. */
export async function checkKilledWriters(writes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-kill-'));
  const acknowledged = await killWriters(folder, writes);

  // The locks of dead processes cause no wait.
  const options = { folder, lockTimeoutMs: 0 };
  const store = new FileStateStore({ ...options, logger: neverCalled });
  const latest = new Map(acknowledged.state.map(({ key, at }) => [key, at]));
  for (const [key, at] of latest) {
    const value = (await store.get({ extension: 'e', session: 's' }, key, policy)) ?? '';
    const [found = '', padding] = value.split(' ');
    expect(padding).toBe('x'.repeat(1_000));
    // One further write of each key may be stored without an acknowledgement.
    expect([at, at + 20]).toContain(Number(found));
  }

  const sessions = new FileSessionStore(options);
  const texts = textsOf(await sessions.load('m'));
  const saved = acknowledged.session.length;
  expect([saved, saved + 1]).toContain(texts.length);
  expect(texts).toEqual(Array.from({ length: texts.length }, (_, at) => `${at} ${'x'.repeat(1_000)}`));
  expect(await addTexts(sessions, 'm', { texts: ['after the kill'] })).toMatchObject({ stored: true, released: true });

  // No files of dead processes are left.
  const names = await readdir(folder, { recursive: true });
  expect(names.map((name) => name.replace(/[0-9a-f]{64}/, '#')).sort()).toEqual([
    'session-#',
    'session-#/free',
    'session-#/length',
    'session-#/log',
    'session-#/summary',
    'state-#',
    'state-#/free',
    'state-#/length',
    'state-#/log',
  ]);
  await rm(folder, { recursive: true });
}
