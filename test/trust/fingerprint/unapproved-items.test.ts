import fs, { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrustGate, TrustItem } from 'keelson/trust';
import { expect, onTestFinished, test, vi } from 'vitest';
import { digestOf, locateItem } from '../../../src/trust/fingerprint/fingerprint.js';
import { UnapprovedItems } from '../../../src/trust/fingerprint/unapproved-items.js';
import { write } from '../../support/process/scratch.js';
import { allowed, makeExtension, makePlace, type Place } from '../../support/trust/place.js';

const HEAVY = `**/${'*a'.repeat(30)}b`;

/** Counts the paths that are opened and the directories that are listed in the workspace. */
function countReads({ workspaceDir }: Place) {
  const counts = { opened: 0, listed: 0 };
  const { openSync, readdirSync } = fs;
  const isOurs = (path: unknown) => String(path).startsWith(workspaceDir);
  fs.openSync = (...args) => {
    if (isOurs(args[0])) counts.opened += 1;
    return openSync(...args);
  };
  fs.readdirSync = ((...args: Parameters<typeof readdirSync>) => {
    if (isOurs(args[0])) counts.listed += 1;
    return readdirSync(...args);
  }) as typeof readdirSync;
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { openSync, readdirSync });
    syncBuiltinESMExports();
  });
  return counts;
}

function hooksOf(place: Place, count: number, more: Partial<TrustItem>): readonly TrustItem[] {
  return Array.from({ length: count }, (_, index) => place.hook({ name: `hook ${index}`, ...more }));
}

const authorizeAll = (gate: TrustGate, items: readonly TrustItem[]) =>
  Promise.all(items.map((item) => gate.authorize(item)));

test.each<[string, Partial<TrustItem>]>([
  ['heavy patterns', { files: [HEAVY] }],
  ['all files', { files: ['**'] }],
  ['a program of the workspace', {}],
])('200 items with %s cause no work if nobody approved them and nobody can be asked', async (_case, more) => {
  const place = makePlace();
  for (let index = 0; index < 50; index += 1) write(join(place.workspaceDir, `data/${'a'.repeat(100)}${index}`), 'x');
  const gate = place.gate({ approve: undefined });
  const counts = countReads(place);

  for (let call = 0; call < 3; call += 1) {
    for (const decision of await authorizeAll(gate, hooksOf(place, 200, more))) {
      expect(decision).toMatchObject({ allowed: false, reason: 'no-approver', approvedBefore: false });
    }
  }

  expect(counts).toEqual({ opened: 0, listed: 0 });
});

test('an unapproved extension is not read if nobody can be asked', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const counts = countReads(place);

  expect(await place.gate({ approve: undefined }).authorize(item)).toMatchObject({ reason: 'no-approver' });

  expect(counts).toEqual({ opened: 0, listed: 0 });
});

test('with a list of allowed digests, each file is hashed once per path, size and times of change', async () => {
  const place = makePlace();
  const data = write(join(place.workspaceDir, 'data/a'), 'x'.repeat(1_000));
  for (let index = 0; index < 9; index += 1) write(join(place.workspaceDir, `data/${index}`), 'x');
  await sleep(150);
  const gate = place.gate({ approve: undefined, allow: [`sha256:${'0'.repeat(64)}`] });
  const items = hooksOf(place, 20, { files: ['data/**'], command: '/bin/sh' });
  const first = await gate.authorize(items[0] as TrustItem);
  const { readFileSync } = fs;
  let read = 0;
  fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
    read += typeof args[0] === 'number' ? 1 : 0;
    return readFileSync(...args);
  }) as typeof readFileSync;
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { readFileSync });
    syncBuiltinESMExports();
  });

  await authorizeAll(gate, items);
  const before = read;
  appendFileSync(data, 'y');
  const changed = await gate.authorize(items[0] as TrustItem);

  expect(before).toBe(0);
  expect(read).toBe(1);
  expect(changed.digest).not.toBe(first.digest);
});

test('a known hash never replaces the check before a start', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(place.hook({ files: ['data/**'] })));
  write(join(place.workspaceDir, 'data/late'), 'x');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
});

test.each([
  ['items', { items: 2, bytes: 1e9, ms: 1e9 }],
  ['bytes', { items: 1e9, bytes: 1, ms: 1e9 }],
  ['time', { items: 1e9, bytes: 1e9, ms: -1e9 }],
])(
  'beyond the limit of %s, a new item is refused unread, and an approved item is still read',
  async (_case, limits) => {
    const place = makePlace();
    const work = new UnapprovedItems(place.trustPlace(), limits);
    const counts = countReads(place);
    const read = (name: string, isApproved = false) =>
      work.fingerprint(locateItem(place.hook({ name }), place.trustPlace()), isApproved, () => isApproved);
    const first = limits.ms < 0 ? undefined : await read('a');
    if (limits.items === 2) await read('b');
    const { opened } = counts;

    await expect(read('c')).rejects.toMatchObject({
      problem: 'too-large',
      message: `The items that nobody approved exceed the limits of ${limits.items} items, ${limits.bytes} bytes and ${limits.ms} ms for one process. Remove some of them, or try again later.`,
    });
    // Locating the program reads its first line.
    expect(counts.opened - opened).toBeLessThanOrEqual(1);
    if (first !== undefined) expect((await read('a')).digest).toBe(first.digest);
    expect(await read('d', true)).toMatchObject({ item: { name: 'd' } });
  },
);

/** Reads items that may take no time of their own. `clock.ms` increases whenever it is read. */
function readInNoTime() {
  const place = makePlace();
  const clock = { ms: 0 };
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    clock.ms += 1;
    return clock.ms;
  });
  onTestFinished(() => now.mockRestore());
  const work = new UnapprovedItems(place.trustPlace(), { items: 1e9, bytes: 1e9, ms: 0 });
  const read = (name: string, isApproved = false) => {
    const located = locateItem(place.hook({ name }), place.trustPlace());
    return work.fingerprint(located, isApproved, () => isApproved);
  };
  return { clock, read };
}

test('approved items take nothing of the time for unapproved items', async () => {
  const { read } = readInNoTime();
  await read('a', true);

  expect(await read('b')).toMatchObject({ item: { name: 'b' } });
});

test('unapproved items may take a twentieth of the time since the gate was created', async () => {
  const { clock, read } = readInNoTime();
  const first = await read('a');

  expect(await read('a')).toBe(first);
  await expect(read('b')).rejects.toMatchObject({ problem: 'too-large' });
  // The first read took less than all of the time until now.
  clock.ms *= 20;
  expect(await read('b')).toMatchObject({ item: { name: 'b' } });
});

test('the error at a limit names the default limits', async () => {
  const place = makePlace();
  let ms = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    ms += 1e6;
    return ms;
  });
  onTestFinished(() => now.mockRestore());
  const gate = place.gate({ approve: undefined, allow: [] });
  await gate.authorize(place.hook({ name: 'slow' }));

  expect(await gate.authorize(place.hook({ name: 'next' }))).toMatchObject({
    reason: 'too-large',
    message: expect.stringContaining('1000 items, 1073741824 bytes and 10000 ms'),
  });
});

test('the items of the list `allow` do not count towards the limit of 1,000 unapproved items', async () => {
  const place = makePlace();
  const items = hooksOf(place, 1_001, { kind: 'skill', command: undefined, event: undefined });
  const allow: string[] = [];
  for (const item of items) allow.push(await digestOf(item, place.trustPlace()));
  const gate = place.gate({ approve: undefined, allow });

  const decisions = await authorizeAll(gate, items);

  expect(decisions.filter(({ reason }) => reason !== 'allow-listed')).toEqual([]);
}, 60_000);

test('items that are read at the same time count one after another', async () => {
  const place = makePlace();
  const work = new UnapprovedItems(place.trustPlace(), { items: 1, bytes: 1e9, ms: 1e9 });
  const outcomes = await Promise.allSettled(
    ['a', 'b'].map((name) =>
      work.fingerprint(locateItem(place.hook({ name }), place.trustPlace()), false, () => false),
    ),
  );

  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});
