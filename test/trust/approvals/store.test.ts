import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
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
import { OptionInvalidError } from 'keelson';
import { type Approval, createTrustGate } from 'keelson/trust';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newOwner } from '../../../src/process/files/lock-owner.js';
import { parseRecord, TrustStore } from '../../../src/trust/approvals/store.js';
import { bundle } from '../../support/process/bundle.js';
import { write } from '../../support/process/scratch.js';
import { allowed, makePlace, type Place } from '../../support/trust/place.js';

const program = await bundle(fileURLToPath(new URL('../../fixtures/trust/approve.ts', import.meta.url)));
const digest = `sha256:${'a'.repeat(64)}`;
const approval = (name: string): Approval => ({
  ...{ kind: 'hook', name, workspace: '/ws', digest, scripts: {} },
  approvedAt: '2026-01-01T00:00:00.000Z',
});
const storeOf = ({ stateDir, workspaceDir, logger }: Place) => new TrustStore({ stateDir, workspaceDir, logger });
const namesIn = async (store: TrustStore) => (await store.list()).map(({ name }) => name);

test('a stored approval does not change with the object that was passed', async () => {
  const store = storeOf(makePlace());
  const given = { ...approval('a') };
  await store.approve(given);
  given.name = 'b';

  expect(await namesIn(store)).toEqual(['a']);
});

test('there is one file, only the user can read it, and it lists the approvals', async () => {
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

test('the default state directory is in the home directory and named after the application', () => {
  const { workspaceDir } = makePlace();

  expect(createTrustGate({ workspaceDir, appName: 'ollm' }).store.path).toBe(
    join(homedir(), '.ollm', 'trusted-hooks.json'),
  );
  expect(createTrustGate({ workspaceDir }).store.path).toBe(join(homedir(), '.keelson', 'trusted-hooks.json'));
});

test('approvals are listed, replaced and revoked', async () => {
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

describe('an approval that another process revoked while this process was held up', () => {
  /** Another process takes over the lock, and writes a file without the approval `a`. */
  function revokeA({ storePath }: Place, takeOver: (lock: string) => void) {
    takeOver(`${storePath}.lock`);
    const { approvals, ...rest } = JSON.parse(readFileSync(storePath, 'utf8'));
    writeFileSync(
      storePath,
      JSON.stringify({ ...rest, approvals: approvals.filter((it: Approval) => it.name !== 'a') }),
    );
  }
  const rename = (lock: string) => renameSync(join(lock, readdirSync(lock)[0] ?? ''), join(lock, newOwner()));
  const remove = (lock: string) => rmSync(lock, { recursive: true });
  const replace = (lock: string) => {
    remove(lock);
    mkdirSync(lock);
    writeFileSync(join(lock, newOwner()), '');
  };

  test.each([
    ['the other process holds the lock', rename],
    ['the other process has removed the lock', remove],
    ['a third process holds a new lock', replace],
  ])('stays revoked if %s', async (_case, takeOver) => {
    const place = makePlace();
    const store = storeOf(place);
    for (const name of ['a', 'b']) await store.approve(approval(name));
    let isTaken = false;
    const held = store.revoke(({ name }) => {
      if (!isTaken) revokeA(place, takeOver);
      isTaken = true;
      return name === 'b';
    });

    await expect(held).rejects.toMatchObject({ code: 'ERR_TRUST_STORE' });

    expect(await namesIn(storeOf(place))).toEqual(['b']);
    expect(readdirSync(place.stateDir).filter((name) => name.includes('draft'))).toEqual([]);
  });
});

test('a file with a damaged byte approves nothing, is reported, and is kept', async () => {
  const place = makePlace();
  await storeOf(place).approve(approval('abc'));
  const bytes = Buffer.from(readFileSync(place.storePath, 'utf8').replace('"abc"', '"ab\xff"'), 'latin1');
  writeFileSync(place.storePath, bytes);
  const store = storeOf(place);

  expect(await store.list()).toEqual([]);
  await store.approve(approval('b'));

  expect(place.logger.lines).toEqual([expect.stringContaining('is damaged')]);
  expect(await namesIn(storeOf(place))).toEqual(['b']);
  const backup = readdirSync(place.stateDir).find((name) => name.endsWith('.backup'));
  expect(readFileSync(join(place.stateDir, backup ?? '')).equals(bytes)).toBe(true);
});

test('a link without a target in place of the file approves nothing, is reported, and is kept', async () => {
  const place = makePlace();
  symlinkSync(join(place.root, 'elsewhere'), place.storePath);
  const store = storeOf(place);

  expect(await store.list()).toEqual([]);
  await store.approve(approval('a'));

  expect(place.logger.lines).toEqual([expect.stringContaining('link without a target')]);
  expect(existsSync(join(place.root, 'elsewhere'))).toBe(false);
  expect(await namesIn(store)).toEqual(['a']);
  expect(readdirSync(place.stateDir).filter((name) => name.endsWith('.backup'))).toHaveLength(1);
});

test('the file is not parsed again after a write of this process', async () => {
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

test('a change by another process is seen at once, between two approvals of this process', async () => {
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
  'a file with %j counts as empty, is reported once, and is copied before it is overwritten',
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

test.each<readonly [field: string, value: unknown]>([
  ...['kind', 'name', 'workspace', 'digest', 'approvedAt'].map((field) => [field, undefined] as const),
  ...['kind', 'name', 'workspace', 'event', 'extension', 'source'].map((field) => [field, 7] as const),
  ...['sha256:00', `sha256:${'A'.repeat(64)}`, `x${digest}`, `${digest}0`].map((text) => ['digest', text] as const),
  ['scripts', undefined],
  ['scripts', 'none'],
])('an entry whose `%s` is %j is ignored and reported once', async (field, value) => {
  const place = makePlace();
  const approvals = [{ ...approval('a'), [field]: value }, approval('b')];
  writeFileSync(place.storePath, JSON.stringify({ version: 1, approvals }), { mode: 0o600 });
  const store = storeOf(place);

  expect([await namesIn(store), await namesIn(store)]).toEqual([['b'], ['b']]);
  expect(place.logger.lines).toEqual([
    `warn: ${place.storePath} has 1 invalid entries, such as entries without a digest. They are ignored.`,
  ]);
});

test('C18: an entry without a digest is ignored, and the other entries are used', async () => {
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

test.each([
  [0o666, 'no-approver'],
  [0o620, 'no-approver'],
  [0o602, 'no-approver'],
  [0o755, 'approved'],
])('a file counts only if others cannot write it: mode %o', async (mode, reason) => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  chmodSync(place.storePath, mode);

  expect(await place.gate({ approve: undefined }).authorize(place.hook())).toMatchObject({ reason });
});

test('a change of the file right after it was read is seen', async () => {
  const place = makePlace();
  const store = storeOf(place);
  await store.approve(approval('a'));
  const text = readFileSync(place.storePath, 'utf8');
  for (let round = 0; round < 100; round += 1) {
    // The same size, and often the same times of change.
    writeFileSync(place.storePath, text);
    expect(await namesIn(store)).toEqual(['a']);
    writeFileSync(place.storePath, text.replace('"name": "a"', '"name": "b"'));
    expect(await namesIn(store)).toEqual(['b']);
  }
});

test('entries of other types in `seen` are left out', () => {
  const parsed = parseRecord(JSON.stringify({ version: 1, approvals: [], seen: { a: 'x', b: 1, c: null } }));

  expect(parsed?.record.seen).toEqual(new Map([['a', 'x']]));
});

test('the file is JSON with an indent of two spaces and a line feed at its end', async () => {
  const place = makePlace();
  await storeOf(place).approve(approval('a'));

  const text = readFileSync(place.storePath, 'utf8');
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
});

test.skipIf(process.geteuid?.() !== 0)('a file of another user is ignored', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  chownSync(place.storePath, 12_345, 0);

  expect(await place.gate({ approve: undefined }).authorize(place.hook())).toMatchObject({ reason: 'no-approver' });
});

test('a file counts only if it belongs to the user or to root', async () => {
  const place = makePlace();
  const store = storeOf(place);
  await store.approve(approval('a'));
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) chownSync(place.storePath, 12_345, 0);
  const user = vi.spyOn(process as { geteuid: () => number }, 'geteuid');
  onTestFinished(() => user.mockRestore());

  user.mockReturnValue(statSync(place.storePath).uid + 1);
  expect(await namesIn(storeOf(place))).toEqual([]);
  user.mockReturnValue(statSync(place.storePath).uid);
  expect(await namesIn(storeOf(place))).toEqual(['a']);
});

describe.skipIf(process.geteuid?.() !== 0)('without the rights of root, a file', () => {
  const normalUser = 65_534;

  test.each([
    ['of the same user counts', normalUser, ['a']],
    ['of root counts', 0, ['a']],
    ['of a third user is ignored', 12_345, []],
  ])('%s', async (_case, uid, names) => {
    const place = makePlace();
    await storeOf(place).approve(approval('a'));
    for (const folder of [place.root, join(place.root, 'home'), place.stateDir]) chmodSync(folder, 0o755);
    chmodSync(place.storePath, 0o644);
    chownSync(place.storePath, uid, 0);

    const store = storeOf(place);
    process.seteuid?.(normalUser);
    const found = await namesIn(store).finally(() => process.seteuid?.(0));

    expect(found).toEqual(names);
  });

  test('that is ignored after it was written causes an error', async () => {
    const place = makePlace();
    for (const folder of [place.root, join(place.root, 'home')]) chmodSync(folder, 0o755);
    chownSync(place.stateDir, normalUser, 0);
    const user = vi.spyOn(process as { geteuid: () => number }, 'geteuid').mockReturnValue(12_345);
    onTestFinished(() => user.mockRestore());

    const store = storeOf(place);
    process.seteuid?.(normalUser);
    const stored = store.approve(approval('a')).finally(() => process.seteuid?.(0));

    await expect(stored).rejects.toMatchObject({
      code: 'ERR_TRUST_STORE',
      message: expect.stringContaining('other users can write to it'),
    });
  });
});

test.each<[string, (path: string) => void]>([
  ['a pipe', (path) => void execFileSync('mkfifo', ['-m', '600', path])],
  ['a device', (path) => symlinkSync('/dev/zero', path)],
  ['a directory', (path) => void mkdirSync(path)],
  ['a huge file', (path) => truncateSync(write(path, ''), 2 ** 32)],
])('%s in place of the file gives an error without blocking', async (_what, make) => {
  const place = makePlace();
  make(place.storePath);

  expect(await place.gate().authorize(place.hook())).toMatchObject({ allowed: false, reason: 'store-failed' });
  expect(place.asked).toEqual([]);
});

test('keys such as __proto__ do not change a prototype', async () => {
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

test('concurrent writes in one process lose nothing', async () => {
  const place = makePlace();

  await Promise.all(Array.from({ length: 12 }, (_, at) => storeOf(place).approve(approval(`${at}`))));

  expect(await storeOf(place).list()).toHaveLength(12);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test('concurrent writes of several processes lose nothing', { timeout: 30_000 }, async () => {
  const place = makePlace();
  const run = (name: string) =>
    promisify(execFile)(process.execPath, [program, place.stateDir, place.workspaceDir, name, '15']);

  await Promise.all(['a', 'b', 'c'].map(run));

  expect(new Set(await namesIn(storeOf(place))).size).toBe(45);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test.each([
  ['', 1],
  [' before the clock was set back', Date.now() / 1000 + 3_600],
])('a stale lock%s is taken over by each waiting process in turn', async (_when, time) => {
  const place = makePlace();
  const dead = newOwner().split('.').with(2, '999999999').join('.');
  mkdirSync(`${place.storePath}.lock`);
  writeFileSync(join(`${place.storePath}.lock`, dead), 'gone');
  utimesSync(join(`${place.storePath}.lock`, dead), time, time);

  await Promise.all(Array.from({ length: 10 }, (_, at) => storeOf(place).approve(approval(`${at}`))));

  expect(await storeOf(place).list()).toHaveLength(10);
  expect(readdirSync(place.stateDir)).toEqual(['trusted-hooks.json']);
});

test('an approval that cannot be stored is valid in this process, and is reported', async () => {
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

test('an approval that could not be stored can be revoked while the store fails, with a typed error', async () => {
  const place = makePlace();
  const stateDir = join(place.root, 'other');
  const block = () => writeFileSync(stateDir, '');
  const gate = place.gate({ stateDir, approve: () => block() === undefined });
  await gate.authorize(place.hook());
  rmSync(stateDir);
  const decision = allowed(await gate.authorize(place.hook()));
  block();

  await expect(gate.revoke(decision.digest ?? '')).rejects.toMatchObject({
    code: 'ERR_TRUST_STORE',
    cause: { code: 'EEXIST' },
  });

  rmSync(stateDir);
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'no-approver' });
});

describe('a store in the workspace is refused', () => {
  test('by its path, and by a link', () => {
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

  test('also if its path becomes a link later', async () => {
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
])('the invalid options %j are refused', (option) => {
  const place = makePlace();

  expect(() => place.gate(option)).toThrow(OptionInvalidError);
});

test('a change by another process is seen at once, even if size and time of the file are the same', async () => {
  const place = makePlace();
  const [one, other] = [storeOf(place), storeOf(place)];
  await other.approve(approval('a'));
  // Old enough for the store to rely on the metadata of the file.
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2_050);
  onTestFinished(() => now.mockRestore());
  const before = [await namesIn(one), await namesIn(one)];

  await other.revoke(() => true);
  await other.approve(approval('b'));
  const after = await namesIn(one);

  expect(before).toEqual([['a'], ['a']]);
  expect(after).toEqual(['b']);
  expect(await namesIn(one)).toEqual(['b']);
});
