import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { TrustItem } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/trust/fingerprint/canonical-json.js';
import { fingerprintItem } from '../../../src/trust/fingerprint/fingerprint.js';
import type { TrustPlace } from '../../../src/trust/item.js';
import { script, write } from '../../support/process/scratch.js';
import { attempt, makeExtension, makePlace } from '../../support/trust/place.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const digestOf = async (item: TrustItem, place: TrustPlace) => (await fingerprintItem(item, place)).digest;

test('the digest follows the documented recipe', async () => {
  const place = makePlace();
  const text = '#!/bin/sh\necho good\n';
  const item = place.hook({ args: ['ü', 'b'], env: { B: '2', A: '1' }, details: { timeoutMs: 100, matcher: 'Edit' } });
  const { workspaceDir } = place;

  const document = [
    `{"args":["ü","b"],"command":"./hooks/lint.sh","cwd":${JSON.stringify(workspaceDir)}`,
    `"details":{"matcher":"Edit","timeoutMs":100},"env":{"A":"1","B":"2"},"event":"before_tool"`,
    `"executable":{"path":${JSON.stringify(place.hookPath)},"sha256":"${sha256(text)}"}`,
    `"files":[{"executable":true,"in":"workspace","path":"hooks/lint.sh","sha256":"${sha256(text)}","type":"file"}]`,
    `"kind":"hook","name":"lint","scope":"workspace","source":${JSON.stringify(join(workspaceDir, '.app', 'hooks.json'))}`,
    `"workspace":${JSON.stringify(workspaceDir)}}`,
  ].join(',');
  expect(await digestOf(item, place.trustPlace())).toBe(`sha256:${sha256(`hook/v2\n${document}`)}`);
});

const canSum = spawnSync('sha256sum', ['--version']).status === 0;
if (!canSum) console.log('sha256sum is missing: its output is not compared with the hash of a script');

test.skipIf(!canSum && !process.env.CI)(
  'a stored approval has the digest, and the hash of the script as sha256sum prints it',
  async () => {
    const place = makePlace();
    const gate = place.gate();
    await gate.authorize(place.hook());

    const [sum = ''] = execFileSync('sha256sum', [place.hookPath], { encoding: 'utf8' }).split(' ');
    expect(await gate.store.list()).toMatchObject([
      { digest: await digestOf(place.hook(), place.trustPlace()), scripts: { 'hooks/lint.sh': sum } },
    ]);
  },
);

test('canonicalJson gives equal strings for equal values only, whatever the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as never);
      expect(canonicalJson(reversed(value) as never)).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe('a changed byte changes the digest if the file is named', () => {
  const ways: [string, Partial<TrustItem>][] = [
    ['as an argument', { command: 'node', args: ['src/x.js'] }],
    ['by its absolute path', { command: 'node', args: ['WORKSPACE/src/x.js'] }],
    ['relative to another working directory', { command: 'node', args: ['x.js'], cwd: 'src' }],
    ['in a shell command line', { shell: true, command: 'cd . && node "src/x.js" ; true' }],
    ['as the file that input is read from', { shell: true, command: 'sh < src/x.js' }],
    ['after a variable of the definition', { shell: true, command: 'node "$D"/x.js', env: { D: 'src' } }],
    ['after a variable with a default', { shell: true, command: `node \${D:-lib}/x.js`, env: { D: 'src' } }],
    ['after the variable with the workspace directory', { shell: true, command: '"$APP_PROJECT_DIR"/src/x.js' }],
    [
      'after the workspace variable of an MCP server entry',
      { kind: 'mcp-server', args: [`\${workspaceFolder}/src/x.js`] },
    ],
    ['as the default of a variable in an MCP server entry', { kind: 'mcp-server', args: [`\${env:HOOK:-src/x.js}`] }],
    ['in several quoted parts', { shell: true, command: `node s'r'c/""x.js` }],
    ['in quotes, with a space', { shell: true, command: 'node "src/a, (1)=b c.js"' }],
    ['in the line of a shell', { command: 'bash', args: ['-lc', './src/x.js'] }],
    ['with Unicode white space that a shell does not split at', { shell: true, command: 'node src/\u00a0\u2003.js' }],
    ['with a carriage return that a shell does not split at', { shell: true, command: 'node src/y\r' }],
    ['with a backslash in quotes', { shell: true, command: 'node "src/a \\b.js"' }],
    ['as the program', { command: 'src/x.js' }],
    ['through a link', { command: 'node', args: ['link.js'] }],
    ['through a link to a directory', { command: 'node', args: ['linked/x.js'] }],
    ['after a link and "..", resolved as a string', { command: 'node', args: ['far/../src/x.js'] }],
    ['after a link and "..", resolved by the system', { command: 'node', args: ['far/../x.js'] }],
    ['among the declared files', { command: 'node', files: ['src/*.js'] }],
    ['in a declared link to a directory', { command: 'node', files: ['linked'] }],
    ['by a pattern through a link', { command: 'node', files: ['linked/**/*.js'] }],
    ['behind a link in a declared directory', { command: 'node', files: ['declared'] }],
    ['in a declared directory', { command: 'node', files: ['src'] }],
    ['in a declared directory that a pattern matches as well', { command: 'node', files: ['*', 'src'] }],
    ['by a wide pattern after a narrow one', { command: 'node', files: ['*', '**'] }],
  ];

  test.each(ways)('%s', async (_way, how) => {
    const place = makePlace();
    const { workspaceDir } = place;
    const path = script(join(workspaceDir, 'src', 'x.js'), '#!/usr/bin/env node\n');
    const names = ['a, (1)=b c.js', '\u00a0\u2003.js', 'y\r', 'a \\b.js'];
    for (const name of names) linkSync(path, join(workspaceDir, 'src', name));
    mkdirSync(join(workspaceDir, 'src', 'deep'));
    symlinkSync('src/deep', join(workspaceDir, 'far'));
    symlinkSync('src/x.js', join(workspaceDir, 'link.js'));
    symlinkSync('src', join(workspaceDir, 'linked'));
    write(join(workspaceDir, 'declared', 'a'), '');
    symlinkSync('../src', join(workspaceDir, 'declared', 'b'));
    symlinkSync('../declared', join(workspaceDir, 'src', 'back'));
    const args = how.args?.map((arg) => arg.replace('WORKSPACE', workspaceDir));
    const item = place.hook({ ...how, args });
    const digest = () => digestOf(item, { ...place.trustPlace(), projectVariable: 'APP_PROJECT_DIR' });
    const before = await digest();
    expect(await digest()).toBe(before);

    script(path, '#!/usr/bin/env node\nevil();\n');

    expect(await digest()).not.toBe(before);
  });
});

test('a workspace given as a link is resolved to its target', async () => {
  const place = makePlace();
  const named = join(place.root, 'named');
  symlinkSync(place.workspaceDir, named);
  const { source, ...item } = place.hook({ command: `${named}/hooks/lint.sh` });
  const digest = () => digestOf(item, { ...place.trustPlace(), workspaceDir: named });
  const before = await digest();

  write(place.hookPath, '#!/bin/sh\necho evil\n', 0o755);

  expect(source).toBeDefined();
  expect(await digest()).not.toBe(before);
});

describe('in an extension package', () => {
  const changes: [string, (root: string) => void][] = [
    ['a new file', (root) => write(join(root, 'new'), '')],
    ['a new directory', (root) => mkdirSync(join(root, 'new'))],
    ['an executable bit', (root) => write(join(root, 'lib', 'helper.sh'), 'echo good\n', 0o755)],
    ['a new link', (root) => symlinkSync('lib', join(root, 'new'))],
    ['a hidden file', (root) => write(join(root, '.git', 'config'), '')],
  ];

  test.each(changes)('%s changes the digest', async (_what, change) => {
    const place = makePlace();
    const { root, item } = makeExtension(place);
    const before = await digestOf(item, place.trustPlace());
    change(root);

    expect(await digestOf(item, place.trustPlace())).not.toBe(before);
  });

  const refusals: [string, string, (root: string) => void][] = [
    ['a link to a file outside', 'outside', (root) => symlinkSync('/etc/hostname', join(root, 'new'))],
    ['a link to a directory outside', 'outside', (root) => symlinkSync('../../..', join(root, 'new'))],
    ['a pipe', 'unreadable', (root) => void execFileSync('mkfifo', [join(root, 'new')])],
    [
      'a name in invalid UTF-8 that is decoded to another name',
      'unreadable',
      (root) => {
        write(join(root, '\ufffd'), '');
        writeFileSync(Buffer.concat([Buffer.from(join(root, '/')), Buffer.from([0xff])]), '');
      },
    ],
    [
      'too many files',
      'too-large',
      (root) => {
        for (let at = 0; at < 60; at++) write(join(root, `${at}`), '');
      },
    ],
    ['too many bytes', 'too-large', (root) => write(join(root, 'big'), Buffer.alloc(2_000))],
  ];

  test.each(refusals)('%s is refused', async (_what, problem, change) => {
    const place = makePlace();
    const { root, item } = makeExtension(place);
    const limits = { files: 50, bytes: 1_000 };
    await digestOf(item, { ...place.trustPlace(), limits });
    change(root);

    await expect(digestOf(item, { ...place.trustPlace(), limits })).rejects.toMatchObject({
      code: 'ERR_TRUST_ITEM_UNBOUND',
      problem,
    });
  });
});

test.each<[string, Partial<TrustItem>]>([
  ['invalid', { args: ['a\0b'] }],
  ['invalid', { env: { LD_PRELOAD: './x.so' } }],
  ['invalid', { env: { 'A=B': '' } }],
  ['invalid', { args: [1 as never] }],
  ['invalid', { source: 'hooks.json' }],
  ...[/a/, new Map(), new Date(0), Number.NaN, 1n, () => 0, Symbol('a')].map((value): [string, Partial<TrustItem>] => [
    'invalid',
    { details: { deep: [{ value: value as never }] } },
  ]),
  ['outside', { files: ['../secret'] }],
  ['outside', { files: ['/etc/passwd'] }],
  ['outside', { args: ['/proc/self/cwd/hooks/lint.sh'] }],
  ['outside', { command: 'sh', args: ['../../../../../../../../../../proc/self/cwd/hooks/lint.sh'] }],
  ['outside', { shell: true, command: 'sh /dev/fd/9 9<hooks/lint.sh' }],
  ['unreadable', { files: ['missing.txt'] }],
  ['no-executable', { command: './missing.sh' }],
  ['too-large', { args: Array.from({ length: 3 }, () => 'a'.repeat(50_000)) }],
])('an invalid item gives the problem %s: case %#', async (problem, more) => {
  const place = makePlace();

  await expect(digestOf(place.hook(more), place.trustPlace())).rejects.toMatchObject({ problem });
});

test.each<[Partial<TrustItem>, string]>([
  [{ args: [1 as never] }, 'its name, command, arguments, variables and paths must be strings'],
  [{ env: { A: 'a\0b' } }, 'it must not contain a NUL character'],
  [{ source: 'hooks.json' }, '"hooks.json" must be an absolute path'],
  [{ root: 'tools' }, '"tools" must be an absolute path'],
  [{ env: { 'A=B': '' } }, '"A=B" must be a valid variable name'],
  [{ env: { LD_PRELOAD: 'x' } }, 'it must not set LD_PRELOAD, which can make another program run'],
])('the error of an invalid item says what is wrong: %j', async (more, problem) => {
  const place = makePlace();

  await expect(digestOf(place.hook(more), place.trustPlace())).rejects.toMatchObject({
    message: `The item cannot be approved: ${problem}.`,
  });
});

test('a file that differs from process to process is refused, and the error says what to use', async () => {
  const place = makePlace();

  await expect(digestOf(place.hook({ args: ['/proc/self/cwd/hooks/lint.sh'] }), place.trustPlace())).rejects.toThrow(
    '/proc/self/cwd/hooks/lint.sh is different for each process. Use a path in the workspace.',
  );
});

test('a link in a workspace that is named through a link is refused if it leads out', async () => {
  const place = makePlace();
  const outside = script(join(place.root, 'outside.sh'), '#!/bin/sh\n');
  symlinkSync(outside, join(place.workspaceDir, 'leads-out.sh'));
  const named = join(place.root, 'named');
  symlinkSync(place.workspaceDir, named);
  const item = place.hook({ command: 'sh', args: [join(named, 'leads-out.sh')] });

  await expect(digestOf(item, { ...place.trustPlace(), workspaceDir: named })).rejects.toMatchObject({
    problem: 'outside',
  });
});

test('a link with a missing target is refused in the workspace, and ignored elsewhere', async () => {
  const place = makePlace();
  symlinkSync('nowhere', join(place.workspaceDir, 'link'));
  symlinkSync('nowhere', join(place.root, 'link'));

  await expect(digestOf(place.hook({ args: ['link'] }), place.trustPlace())).rejects.toMatchObject({
    problem: 'unreadable',
  });
  await digestOf(place.hook({ args: [join(place.root, 'link'), '../link'] }), place.trustPlace());
});

test('a word longer than the system limit is refused', async () => {
  const place = makePlace();
  const item = place.hook({ args: ['x'.repeat(131_073)] });

  await expect(digestOf(item, place.trustPlace())).rejects.toMatchObject({ problem: 'too-large' });
});

test('a path that is too long only as an absolute path is refused', async () => {
  const place = makePlace();
  const name = 'd'.repeat(200);
  const folder = `./${`${name}/`.repeat(20)}`;
  mkdirSync(join(place.workspaceDir, name));
  const item = place.hook({ command: 'sh', args: [`${folder}${'x'.repeat(70)}`] });

  await expect(digestOf(item, place.trustPlace())).rejects.toMatchObject({ problem: 'unreadable' });
});

test('a link to a pipe is refused, because its content cannot be hashed', async () => {
  const place = makePlace();
  execFileSync('mkfifo', [join(place.workspaceDir, 'pipe')]);
  symlinkSync('pipe', join(place.workspaceDir, 'link'));

  await expect(digestOf(place.hook({ args: ['link'] }), place.trustPlace())).rejects.toMatchObject({
    problem: 'unreadable',
    message: `${join(place.workspaceDir, 'pipe')} must be a file.`,
  });
});

test('a path outside of the workspace that cannot be read is not part of an item', async () => {
  const place = makePlace();
  const loop = join(place.root, 'loop');
  symlinkSync('loop', loop);
  const item = place.hook({ command: 'sh', args: ['hooks/lint.sh'] });

  const before = await digestOf({ ...item, args: ['hooks/lint.sh', loop] }, place.trustPlace());
  rmSync(loop);

  expect(await digestOf({ ...item, args: ['hooks/lint.sh', loop] }, place.trustPlace())).toBe(before);
});

test('directories do not count towards the limit of bytes', async () => {
  const place = makePlace();
  write(join(place.workspaceDir, 'data', 'deep', 'a.txt'), 'four');
  const item = place.hook({ command: '/bin/true', files: ['data'] });
  const within = (bytes: number) => digestOf(item, { ...place.trustPlace(), limits: { files: 10, bytes } });

  await within(4);
  await expect(within(3)).rejects.toMatchObject({ problem: 'too-large' });
});

test('the request also lists scripts of an extension package outside of the workspace', async () => {
  const place = makePlace();
  const root = join(place.stateDir, 'extensions', 'downloaded');
  script(join(root, 'hook.sh'), '#!/bin/sh\necho good\n');
  await place.gate().authorize(place.hook({ root, command: './hook.sh' }));

  expect(Object.keys(place.asked[0]?.scripts ?? {})).toEqual(['hook.sh']);
});

test('the directory of an extension package may have any name', async () => {
  const place = makePlace();
  const root = join(place.workspaceDir, "$&$$'");
  const path = script(join(root, 'hook.sh'), '#!/bin/sh\necho "$1"\n');
  const item = place.hook({ root, command: `\${extensionPath}/hook.sh`, args: [`\${extensionPath}`] });

  expect(await attempt(place.gate(), item)).toContain(place.stateDir);
  expect(place.asked[0]?.executable).toBe(path);
});

test('hashing many files yields to timers', async () => {
  const place = makePlace();
  for (let at = 0; at < 1_000; at++) write(join(place.workspaceDir, 'many', `${at}`), Buffer.alloc(20_000, at));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await digestOf(place.hook({ files: ['many'] }), place.trustPlace());
  clearInterval(timer);

  expect(turns).toBeGreaterThan(0);
});

test('the request lists directories that are not covered', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ command: 'node', args: ['.', './hooks'] }));

  expect(place.asked[0]?.unbound).toEqual(['.', 'hooks']);
});

test('the workspace of the tests has no links in its path', () => {
  const { workspaceDir } = makePlace();
  expect(realpathSync(workspaceDir)).toBe(workspaceDir);
});
