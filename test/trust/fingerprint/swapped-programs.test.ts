import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sweepSnapshots } from '../../../src/trust/fingerprint/snapshot.js';
import { script, write } from '../../support/process/scratch.js';
import { attacks } from '../../support/trust/attacks.js';
import { allowed, attempt, makeExtension, makePlace, start, verified } from '../../support/trust/place.js';

describe.each(Object.entries(attacks))('a file replaced by %s after the approval', (_way, attack) => {
  test('is refused if it is the script', async () => {
    const place = makePlace();
    const gate = place.gate();
    const decision = allowed(await gate.authorize(place.hook()));
    attack(place.hookPath);

    expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
  });

  test('is refused if it is the script argument of an interpreter', async () => {
    const place = makePlace();
    const gate = place.gate();
    const decision = allowed(await gate.authorize(place.hook({ command: 'sh', args: ['-e', 'hooks/lint.sh'] })));
    attack(place.hookPath);

    expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
  });

  test('is refused if it is a declared file', async () => {
    const place = makePlace();
    const gate = place.gate();
    const data = write(join(place.workspaceDir, 'rules', 'deep', 'a.json'), '{}');
    const decision = allowed(await gate.authorize(place.hook({ files: ['rules/**/*.json'] })));
    attack(data);

    expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
  });

  test('is refused if it is a helper file in an extension package', async () => {
    const place = makePlace();
    const gate = place.gate();
    const { helper, item } = makeExtension(place);
    const decision = allowed(await gate.authorize(item));
    attack(helper);

    expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
  });

  test('C9: does not change the verified copy of an extension package', async () => {
    const place = makePlace();
    const gate = place.gate();
    const { root, helper, item } = makeExtension(place);
    const decision = allowed(await gate.authorize(item));
    const ready = verified(await gate.verify(decision));
    attack(helper);
    attack(join(root, 'hook.sh'));

    expect((await start(ready)).stdout).toBe('good\n');
  });
});

test('a program with the same name earlier in PATH is another program', async () => {
  const place = makePlace();
  const [first, second] = [join(place.root, 'first'), join(place.root, 'second')];
  script(join(second, 'tool'), '#!/bin/sh\necho good\n');
  const path = [first, second].join(delimiter);
  const gate = place.gate({ path });
  const item = place.hook({ command: 'tool' });
  const decision = allowed(await gate.authorize(item));
  expect((await start(verified(await gate.verify(decision)))).stdout).toBe('good\n');
  script(join(first, 'tool'), '#!/bin/sh\necho EVIL\n');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
});

test('a program in the workspace is not found by its bare name, whatever PATH contains', async () => {
  const place = makePlace();
  const { workspaceDir } = place;
  script(join(workspaceDir, 'bin', 'keelson-tool'), '#!/bin/sh\necho EVIL\n');
  const gate = place.gate({ path: ['./bin', '', join(workspaceDir, 'bin')].join(delimiter) });

  expect(await gate.authorize(place.hook({ command: 'keelson-tool', cwd: 'bin' }))).toMatchObject({
    ...{ allowed: false, reason: 'no-executable' },
    failure: { code: 'not-found' },
  });
});

test('the copy has all files and links, belongs to the user and is read-only', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { root, item } = makeExtension(place);
  symlinkSync('hook.sh', join(root, 'alias.sh'));
  symlinkSync('lib', join(root, 'linked'));
  write(join(root, 'z', 'deep', 'x'), '');
  symlinkSync('z/deep', join(root, 'a'));
  mkdirSync(join(root, 'empty'));
  const { root: copy = '' } = verified(
    await gate.verify(allowed(await gate.authorize({ ...item, command: './alias.sh' }))),
  );

  expect(copy.startsWith(join(place.stateDir, 'approved'))).toBe(true);
  expect(readdirSync(copy).sort()).toEqual([
    'a',
    'alias.sh',
    'empty',
    'hook.sh',
    'lib',
    'linked',
    'manifest.json',
    'z',
  ]);
  expect(readdirSync(join(copy, 'linked'))).toEqual(['helper.sh']);
  const modes = ['..', '.', 'lib', 'hook.sh', 'lib/helper.sh'].map((name) => statSync(join(copy, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o500, 0o500, 0o500, 0o400]);
});

test('a program in the copy sees the paths of the copy', async () => {
  const place = makePlace();
  const { root, item } = makeExtension(place);
  script(join(root, 'show.sh'), '#!/bin/sh\necho "$0 $PWD $1 $2 $WHERE"\n');
  const more = {
    command: `\${extensionPath}/show.sh`,
    args: [`\${extensionPath}/lib`, join(root, 'lib')],
    env: { WHERE: `\${extensionPath}` },
  };
  const gate = place.gate();

  const ready = verified(await gate.verify(allowed(await gate.authorize({ ...item, ...more }))));

  const copy = ready.root;
  expect((await start(ready)).stdout.trim()).toBe(`${copy}/show.sh ${copy} ${copy}/lib ${copy}/lib ${copy}`);
});

test('E5: a shell command line gets the directory as a variable, not as text', async () => {
  const place = makePlace();
  const stateDir = join(place.root, 'a $(touch pwned) "b');
  mkdirSync(stateDir);
  const gate = place.gate({ stateDir });
  const { item } = makeExtension(place);

  const ready = verified(
    await gate.verify(
      allowed(await gate.authorize({ ...item, shell: true, command: `sh "\${extensionPath}/hook.sh"` })),
    ),
  );

  expect((await start(ready)).stdout).toBe('good\n');
  expect(existsSync(join(ready.root ?? '', 'pwned'))).toBe(false);
});

test('arguments are passed literally', async () => {
  const place = makePlace();
  write(place.hookPath, '#!/bin/sh\nprintf "%s|" "$@"\n', 0o755);
  const args = ['$(id)', '`id`', '"; id #', 'a\nb', '*', ''];

  expect(await attempt(place.gate(), place.hook({ args }))).toBe(args.map((arg) => `${arg}|`).join(''));
});

test.each(['a byte', 'a file mode', 'an extra file', 'all files'])(
  'a copy that differs by %s is replaced',
  async (what) => {
    const place = makePlace();
    const gate = place.gate();
    const { item } = makeExtension(place);
    const decision = allowed(await gate.authorize(item));
    const { root: copy = '' } = verified(await gate.verify(decision));
    const helper = join(copy, 'lib', 'helper.sh');
    for (const path of [copy, join(copy, 'lib'), helper]) chmodSync(path, 0o700);
    if (what === 'a byte') writeFileSync(helper, 'echo EVIL\n');
    if (what !== 'a file mode') chmodSync(helper, 0o400);
    if (what === 'an extra file') writeFileSync(join(copy, 'more'), '');
    if (what === 'all files') renameSync(copy, `${copy}-away`);

    const ready = verified(await gate.verify(decision));

    expect((await start(ready)).stdout).toBe('good\n');
    expect(existsSync(join(copy, 'more'))).toBe(false);
  },
);

test('revoking an approval removes the copy', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { item } = makeExtension(place);
  await attempt(gate, item);
  await gate.revoke((await gate.authorize(item)).digest ?? '');

  expect(readdirSync(join(place.stateDir, 'approved'))).toEqual([]);
});

test('the copy of a replaced approval is removed after 7 days without use, and of a valid one after 90 days', async () => {
  const place = makePlace();
  // A new gate each time, because a process sweeps only once.
  const approve = (more: object = {}) => attempt(place.gate(), { ...item, ...more });
  const { item } = makeExtension(place);
  const copies = () => readdirSync(join(place.stateDir, 'approved'));
  const age = (days: number) => {
    const then = Date.now() / 1_000 - days * 86_400;
    for (const name of copies()) utimesSync(join(place.stateDir, 'approved', name), then, then);
  };
  await approve();
  age(31);
  await approve({ args: ['3'] });
  expect(copies()).toHaveLength(1);
});

test('a copy that was used exactly 30 days ago stays', async () => {
  const { stateDir } = makePlace();
  const copy = join(stateDir, 'approved', 'a'.repeat(64));
  mkdirSync(copy, { recursive: true });
  utimesSync(copy, 1_000_000, 1_000_000);
  const now = vi.spyOn(Date, 'now').mockReturnValue((1_000_000 + 30 * 86_400) * 1_000);
  onTestFinished(() => now.mockRestore());

  await sweepSnapshots(stateDir);
  expect(existsSync(copy)).toBe(true);

  now.mockReturnValue((1_000_000 + 30 * 86_400) * 1_000 + 1);
  await sweepSnapshots(stateDir);
  expect(existsSync(copy)).toBe(false);
});

test('a copy in use stays while others verify the same item', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { item } = makeExtension(place);
  for (let round = 0; round < 5; round++) {
    const decision = allowed(await gate.authorize({ ...item, args: [`${round}`] }));
    const runs = Array.from({ length: 12 }, async (_, at) => {
      await sleep(at * 3);
      return (await start(verified(await gate.verify(decision)))).stdout;
    });

    expect(new Set(await Promise.all(runs))).toEqual(new Set(['good\n']));
  }
});

test('several gates that create one copy at once all get it', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const decision = allowed(await place.gate().authorize(item));

  const results = await Promise.all(Array.from({ length: 8 }, () => place.gate().verify(decision)));

  expect(new Set(results.map((result) => verified(result).root)).size).toBe(1);
  expect(readdirSync(join(place.stateDir, 'approved'))).toHaveLength(1);
});

test.each([
  [['../../../ws/src/x.sh']],
  [[`\${extensionPath}/../../../ws/src/x.sh`]],
  [['-c', '. "$extensionPath"/../../../ws/src/x.sh']],
])('a word that leads out of an extension package is refused: %j', async (args) => {
  const place = makePlace();
  const { item } = makeExtension(place);

  expect(await place.gate().authorize({ ...item, command: 'sh', args })).toMatchObject({
    ...{ allowed: false, reason: 'outside' },
    message: expect.stringContaining('leads out of the extension'),
  });
});

test('".." inside of an extension package is allowed', async () => {
  const place = makePlace();
  const { root, item } = makeExtension(place);
  write(join(root, 'plain.sh'), 'echo good\n');

  expect(await attempt(place.gate(), { ...item, cwd: 'lib', command: 'sh', args: ['../plain.sh'] })).toBe('good');
});
