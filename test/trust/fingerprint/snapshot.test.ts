import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  promises,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { write } from '../../support/process/scratch.js';
import { allowed, makeExtension, makePlace, verified } from '../../support/trust/place.js';

/** Replaces a function of `node:fs/promises` until the end of the test. */
function stub<Name extends 'mkdir' | 'rename' | 'rm' | 'utimes'>(name: Name, act: (typeof promises)[Name]): void {
  const spied = vi.spyOn(promises, name).mockImplementation(act as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spied.mockRestore();
    syncBuiltinESMExports();
  });
}

test('an extension package that changes while its copy is made does not start', async () => {
  const place = makePlace();
  const { item, helper } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { mkdir } = promises;
  stub('mkdir', ((...args: Parameters<typeof mkdir>) => {
    write(helper, 'echo EVIL\n');
    return mkdir(...args);
  }) as typeof mkdir);

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed', approvedBefore: true });
});

test('an extension package that cannot be copied does not start', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  stub('mkdir', () => Promise.reject<never>(new RangeError('no space left')));

  expect(await gate.verify(decision)).toMatchObject({
    ...{ allowed: false, reason: 'invalid', approvedBefore: true },
    message: 'The hook "hook" may not be used: no space left.',
  });
});

test('a copy starts even if its time of last use cannot be updated', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root } = verified(await gate.verify(decision));
  stub('utimes', () => Promise.reject(Object.assign(new Error('no permission'), { code: 'EPERM' })));

  expect(verified(await gate.verify(decision)).root).toBe(root);
});

test('a copy whose link leads to another directory of the copy is replaced', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  write(join(root, 'other', 'helper.sh'), 'echo EVIL\n');
  symlinkSync('lib', join(root, 'linked'));
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root: copy = '' } = verified(await gate.verify(decision));
  chmodSync(copy, 0o700);
  rmSync(join(copy, 'linked'));
  symlinkSync('other', join(copy, 'linked'));
  chmodSync(copy, 0o500);

  verified(await gate.verify(decision));

  expect(readlinkSync(join(copy, 'linked'))).toBe('lib');
});

test('nobody can write to the directories of a copy', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  write(join(root, 'lib', 'deep', 'more.sh'), 'echo more\n');
  const gate = place.gate();

  const { root: copy = '' } = verified(await gate.verify(allowed(await gate.authorize(item))));

  const modes = ['', 'lib', 'lib/deep'].map((folder) => statSync(join(copy, folder)).mode & 0o777);
  expect(modes).toEqual([0o500, 0o500, 0o500]);
});

test('a copy with a named pipe in it is replaced', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root: copy = '' } = verified(await gate.verify(decision));
  chmodSync(copy, 0o700);
  execFileSync('mkfifo', [join(copy, 'zz')]);
  chmodSync(copy, 0o500);

  verified(await gate.verify(decision));

  expect(existsSync(join(copy, 'zz'))).toBe(false);
  expect(readdirSync(dirname(copy))).toEqual([basename(copy)]);
});

test('a copy that another start has just created in place of a damaged one stays', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root: copy = '' } = verified(await gate.verify(decision));
  chmodSync(copy, 0o700);
  write(join(copy, 'extra'), '');
  const { rename, rm } = promises;
  const created: number[] = [];
  const faster = async (path: unknown) => {
    if (path !== copy || created.push(0) > 1) return;
    verified(await gate.verify(decision));
    created[0] = statSync(copy).ino;
  };
  stub('rename', async (from, to) => {
    await faster(from);
    await rename(from, to);
  });
  stub('rm', async (path, options) => {
    await faster(path);
    await rm(path, options);
  });

  verified(await gate.verify(decision));

  const copies = readdirSync(dirname(copy)).map((name) => statSync(join(dirname(copy), name)).ino);
  expect(copies).toContain(created[0]);
});

test('the copy of an item that also covers files of the workspace has the files of its package only', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();

  const decision = allowed(await gate.authorize({ ...item, files: ['hooks/lint.sh'] }));
  const { root: copy = '' } = verified(await gate.verify(decision));

  expect(readdirSync(copy).sort()).toEqual(['hook.sh', 'lib', 'manifest.json']);
});

test('the time of last use of a copy is updated before the copy can start', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root: copy = '' } = verified(await gate.verify(decision));
  const { utimes } = promises;
  await utimes(copy, 1_000, 1_000);
  stub('utimes', async (...args) => {
    await sleep(20);
    await utimes(...args);
  });

  verified(await gate.verify(decision));

  expect(statSync(copy).mtimeMs).toBeGreaterThan(1_000_000);
});

test('an approval stands although an unused copy cannot be removed', async () => {
  const place = makePlace();
  const old = join(place.stateDir, 'approved', 'a'.repeat(64));
  mkdirSync(old, { recursive: true });
  utimesSync(old, 1, 1);
  const { rm } = promises;
  stub('rm', (path, options) => (path === old ? Promise.reject(new RangeError('busy')) : rm(path, options)));

  allowed(await place.gate().authorize(place.hook()));

  expect(place.logger.lines).toEqual(['warn: Unused copies of extension packages could not be removed']);
});

test('a link without a target is not copied, and needs a new approval when its target is created', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  symlinkSync('later.sh', join(root, 'link'));
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  const { root: copy = '' } = verified(await gate.verify(decision));
  expect(readdirSync(copy).sort()).toEqual(['hook.sh', 'lib', 'manifest.json']);

  write(join(root, 'later.sh'), 'echo EVIL\n');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
});

test('a link starts nothing after its target is created outside of the extension', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  const outside = join(place.root, 'later.sh');
  symlinkSync(outside, join(root, 'link'));
  const gate = place.gate();
  const decision = allowed(await gate.authorize(item));
  verified(await gate.verify(decision));

  write(outside, 'echo EVIL\n');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'outside' });
});

test('other files beside the copies stay, and the directory of copies may be missing', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  expect(place.logger.lines).toEqual([]);
  const names = ['notes-new-1', `x${'a'.repeat(64)}`, `${'a'.repeat(64)}.txt`];
  for (const name of names) {
    write(join(place.stateDir, 'approved', name), '');
    utimesSync(join(place.stateDir, 'approved', name), 1, 1);
  }

  await place.gate().authorize(place.hook({ name: 'other' }));

  expect(readdirSync(join(place.stateDir, 'approved')).sort()).toEqual(names.sort());
});
