import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { OptionInvalidError } from '../../../src/errors.js';
import { newOwner } from '../../../src/process/files/lock-owner.js';
import type { Approval } from '../../../src/trust/approvals/approval.js';
import { TrustStore } from '../../../src/trust/approvals/store.js';
import { createTrustGate } from '../../../src/trust/gate.js';
import { write } from '../../support/process/scratch.js';
import { allowed, makePlace, type Place } from '../../support/trust/place.js';

const program = fileURLToPath(new URL('../../fixtures/trust/approve.ts', import.meta.url));
const digest = `sha256:${'a'.repeat(64)}`;
const approval = (name: string): Approval => ({
  ...{ kind: 'hook', name, workspace: '/ws', digest, scripts: {} },
  approvedAt: '2026-01-01T00:00:00.000Z',
});
const storeOf = ({ stateDir, workspaceDir, logger }: Place) => new TrustStore({ stateDir, workspaceDir, logger });
const namesIn = async (store: TrustStore) => (await store.list()).map(({ name }) => name);

test('an approval is what it was when it was given, whatever becomes of the object', async () => {
  const store = storeOf(makePlace());
  const given = { ...approval('a') };
  await store.approve(given);
  given.name = 'b';

  expect(await namesIn(store)).toEqual(['a']);
});

test('the file is the only one, is the user’s alone, and says what was approved', async () => {
  const place = makePlace();
  const stateDir = join(place.root, 'home', 'deep', '.new');
  await place
    .gate({ stateDir, clock: { ...Date, now: () => 0, setTimeout, clearTimeout: () => {} } })
    .authorize(place.hook());

  expect(readdirSync(stateDir)).toEqual(['trusted-hooks.json']);
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(stateDir, 'trusted-hooks.json')).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(stateDir, 'trusted-hooks.json'), 'utf8'))).toEqual({
    version: 1,
    approvals: [
      {
        kind: 'hook',
        name: 'lint',
        event: 'before_tool',
        source: join(place.workspaceDir, '.app', 'hooks.json'),
        workspace: place.workspaceDir,
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        scripts: { 'hooks/lint.sh': expect.stringMatching(/^[0-9a-f]{64}$/) },
        approvedAt: '1970-01-01T00:00:00.000Z',
      },
    ],
    seen: {},
  });
});

test('the default folder is named after the application, in the home folder', () => {
  const { workspaceDir } = makePlace();

  expect(createTrustGate({ workspaceDir, appName: 'ollm' }).store.path).toBe(
    join(homedir(), '.ollm', 'trusted-hooks.json'),
  );
  expect(createTrustGate({ workspaceDir }).store.path).toBe(join(homedir(), '.keelson', 'trusted-hooks.json'));
});

test('approvals are listed, replaced and taken back', async () => {
  const store = storeOf(makePlace());
  await store.approve(approval('a'));
  await store.approve(approval('b'));
  expect(await store.approve({ ...approval('a'), digest: digest.replace(/a$/, 'b') })).toEqual([approval('a')]);
  expect(await namesIn(store)).toEqual(['b', 'a']);

  expect((await store.revoke(digest)).map(({ name }) => name)).toEqual(['b']);
  expect((await store.revoke(({ name }) => name === 'a')).map(({ name }) => name)).toEqual(['a']);
  expect(await store.revoke(digest)).toEqual([]);
  expect(await store.list()).toEqual([]);
});

test('what this process wrote is not taken apart again, however many approvals there are', async () => {
  const store = storeOf(makePlace());
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());

  for (let index = 0; index < 20; index += 1) {
    await store.approve(approval(`${index}`));
    await store.list();
  }

  expect(parse).toHaveBeenCalledTimes(0);
  expect(await namesIn(store)).toHaveLength(20);
});

test('what another process wrote counts at once, between two approvals of this one', async () => {
  const place = makePlace();
  const [store, other] = [storeOf(place), storeOf(place)];
  await store.approve(approval('a'));
  await other.approve(approval('b'));
  await store.approve(approval('c'));
  await other.revoke(({ name }) => name === 'a');

  expect([await namesIn(store), await namesIn(other)]).toEqual([
    ['b', 'c'],
    ['b', 'c'],
  ]);
});

test.each(['', '{', '[]', 'null', '{"version":2,"approvals":[]}', '{"lint":"sha256:00"}', '{"version":1}', '\0\0'])(
  'a file that holds %j counts as empty, says so once, and is kept before it is written over',
  async (text) => {
    const place = makePlace();
    writeFileSync(place.storePath, text, { mode: 0o600 });
    const store = storeOf(place);

    expect([await store.list(), await store.list()]).toEqual([[], []]);
    expect(place.logger.lines).toEqual([expect.stringContaining('is damaged')]);
    await store.approve(approval('a'));

    expect(await namesIn(store)).toEqual(['a']);
    const backups = readdirSync(place.stateDir).filter((name) => name.endsWith('.backup'));
    expect(backups.map((name) => readFileSync(join(place.stateDir, name), 'utf8'))).toEqual([text]);
  },
);

test('C18: an entry without a digest is not trusted, and the others are', async () => {
  const place = makePlace();
  const gate = place.gate();
  await gate.authorize(place.hook());
  await gate.authorize(place.hook({ name: 'other' }));
  const stored = JSON.parse(readFileSync(place.storePath, 'utf8'));
  for (const legacy of [undefined, true, 'sha256:short', 'md5:x']) {
    stored.approvals[0].digest = legacy;
    writeFileSync(place.storePath, JSON.stringify({ ...stored, approvals: [...stored.approvals, 'lint', null] }));

    const headless = place.gate({ approve: undefined });
    expect(await headless.authorize(place.hook())).toMatchObject({ allowed: false, reason: 'no-approver' });
    expect(await headless.authorize(place.hook({ name: 'other' }))).toMatchObject({ allowed: true });
  }
});

test('a file that others can write does not count', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  chmodSync(place.storePath, 0o666);

  expect(await place.gate({ approve: undefined }).authorize(place.hook())).toMatchObject({ reason: 'no-approver' });
});

test.skipIf(process.geteuid?.() !== 0)('a file of another user does not count', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  chownSync(place.storePath, 12_345, 0);

  expect(await place.gate({ approve: undefined }).authorize(place.hook())).toMatchObject({ reason: 'no-approver' });
});

test.each<[string, (path: string) => void]>([
  ['a pipe', (path) => void execFileSync('mkfifo', ['-m', '600', path])],
  ['a device', (path) => symlinkSync('/dev/zero', path)],
  ['a folder', (path) => void mkdirSync(path)],
  ['a file without end', (path) => truncateSync(write(path, ''), 2 ** 32)],
])(
  '%s in the place of the file trusts nothing, and keeps nobody waiting',
  async (_what, make) => {
    const place = makePlace();
    make(place.storePath);

    expect(await place.gate().authorize(place.hook())).toMatchObject({ allowed: false, reason: 'store-failed' });
    expect(place.asked).toEqual([]);
  },
  3_000,
);

test('keys such as __proto__ change no prototype', async () => {
  const place = makePlace();
  const entry = JSON.stringify({ ...approval('a'), scripts: {} }).replace(
    '"scripts":{}',
    '"scripts":{"__proto__":{"x":1}},"__proto__":{"y":1}',
  );
  writeFileSync(place.storePath, `{"version":1,"approvals":[${entry}],"seen":{"__proto__":"z"},"__proto__":{"w":1}}`, {
    mode: 0o600,
  });

  await storeOf(place).noteSeen(new Map([['__proto__', 'other']]));

  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).x).toBe(undefined);
  expect(await storeOf(place).noteSeen(new Map([['__proto__', 'third']]))).toEqual(new Map([['__proto__', 'other']]));
});

test('many writers in one process lose nothing', async () => {
  const place = makePlace();

  await Promise.all(Array.from({ length: 30 }, (_, at) => storeOf(place).approve(approval(`${at}`))));

  expect(await storeOf(place).list()).toHaveLength(30);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test('writers in several processes lose nothing', { timeout: 30_000 }, async () => {
  const place = makePlace();
  const run = (name: string) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', program, place.stateDir, place.workspaceDir, name, '15']);

  await Promise.all(['a', 'b', 'c'].map(run));

  expect(new Set(await namesIn(storeOf(place))).size).toBe(45);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test.each([
  ['', 1],
  [' before the clock was set back', Date.now() / 1000 + 3_600],
])('a lock that a crash left behind%s is taken over, by all who wait', async (_when, time) => {
  const place = makePlace();
  const dead = newOwner().split('.').with(2, '999999999').join('.');
  mkdirSync(`${place.storePath}.lock`);
  writeFileSync(join(`${place.storePath}.lock`, dead), 'gone');
  utimesSync(join(`${place.storePath}.lock`, dead), time, time);

  await Promise.all(Array.from({ length: 10 }, (_, at) => storeOf(place).approve(approval(`${at}`))));

  expect(await storeOf(place).list()).toHaveLength(10);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test('a yes that cannot be stored holds in this process, and says so', async () => {
  const place = makePlace();
  const blocked = join(place.root, 'file');
  writeFileSync(blocked, '');
  const gate = place.gate({ stateDir: join(blocked, '.app') });

  expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason: 'store-failed' });

  const stateDir = join(place.root, 'other');
  const late = place.gate({
    stateDir,
    approve: () => {
      writeFileSync(stateDir, '');
      return true;
    },
  });
  const decision = await late.authorize(place.hook());
  expect(decision.allowed).toBe(false);
  rmSync(stateDir);
  expect(await late.authorize(place.hook())).toMatchObject({ allowed: true, reason: 'approved' });
  expect(place.logger.lines.filter((line) => line.includes('could not be stored'))).toHaveLength(1);
});

test('a yes that could not be stored can be taken back where the store still fails, which is a typed error', async () => {
  const place = makePlace();
  const stateDir = join(place.root, 'other');
  const block = () => writeFileSync(stateDir, '');
  const gate = place.gate({ stateDir, approve: () => block() === undefined });
  await gate.authorize(place.hook());
  rmSync(stateDir);
  const decision = allowed(await gate.authorize(place.hook()));
  block();

  await expect(gate.revoke(decision.digest ?? '')).rejects.toMatchObject({ code: 'ERR_TRUST_STORE' });

  rmSync(stateDir);
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'no-approver' });
});

describe('a store in the workspace is refused', () => {
  test('by its name, and where a link leads there', () => {
    const place = makePlace();
    mkdirSync(join(place.workspaceDir, 'state'));
    symlinkSync(join(place.workspaceDir, 'state'), join(place.root, 'innocent'));
    symlinkSync(place.workspaceDir, join(place.root, 'named'));
    const make = (workspaceDir: string, stateDir: string) => () => createTrustGate({ workspaceDir, stateDir });

    expect(make(place.workspaceDir, join(place.workspaceDir, '.app'))).toThrow(OptionInvalidError);
    expect(make(place.workspaceDir, place.workspaceDir)).toThrow(OptionInvalidError);
    expect(make(place.workspaceDir, join(place.root, 'innocent', 'absent'))).toThrow(OptionInvalidError);
    expect(make(join(place.root, 'named'), join(place.workspaceDir, '.app'))).toThrow(OptionInvalidError);
    expect(make(place.workspaceDir, '.app')).toThrow(OptionInvalidError);
    expect(make(place.workspaceDir, `${place.workspaceDir}-state`)).not.toThrow();
    expect(existsSync(join(place.workspaceDir, 'state', 'absent'))).toBe(false);
  });

  test('also where it becomes a link later', async () => {
    const place = makePlace();
    const gate = place.gate();
    writeFileSync(join(place.workspaceDir, 'mine.json'), '{"version":1,"approvals":[]}');
    symlinkSync(join(place.workspaceDir, 'mine.json'), place.storePath);

    expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason: 'store-failed' });
  });
});

test.each([
  { appName: '../x' },
  { appName: '' },
  { allow: ['sha256:x'] },
  { approveTimeoutMs: 0 },
  { approve: true as never },
  { workspaceDir: '' },
  { stateFolder: '/tmp' } as never,
])('the option %j is refused', (option) => {
  const place = makePlace();

  expect(() => place.gate(option)).toThrow(OptionInvalidError);
});

test('what another process changes counts at once, also where the file was read before and looks much the same', async () => {
  const place = makePlace();
  const [one, other] = [storeOf(place), storeOf(place)];
  await other.approve(approval('a'));
  // Long enough ago for the file to be known by its looks.
  await new Promise((resolve) => setTimeout(resolve, 2_050));
  const before = [await namesIn(one), await namesIn(one)];

  await other.revoke(() => true);
  await other.approve(approval('b'));
  const after = await namesIn(one);

  expect(before).toEqual([['a'], ['a']]);
  expect(after).toEqual(['b']);
  expect(await namesIn(one)).toEqual(['b']);
});
