import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { canonicalJson } from '../../../src/trust/fingerprint/canonical-json.js';
import { digestOf } from '../../../src/trust/fingerprint/fingerprint.js';
import { matchesPattern } from '../../../src/trust/fingerprint/path-pattern.js';
import type { TrustItem } from '../../../src/trust/item.js';
import { script, write } from '../../support/process/scratch.js';
import { attempt, makeExtension, makePlace } from '../../support/trust/place.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('the digest is the one that the documented recipe gives', async () => {
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
  expect(await digestOf(item, place.trustPlace())).toBe(`sha256:${sha256(`hook/v1\n${document}`)}`);
});

const canSum = spawnSync('sha256sum', ['--version']).status === 0;
if (!canSum) console.log('sha256sum is missing: the hash of a script is not compared with what it prints');

test.skipIf(!canSum && !process.env.CI)(
  'the stored entry holds the digest, and the script’s own hash as sha256sum prints it',
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

test('equal values have equal texts, whatever the order of their keys, and other values have others', () => {
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

describe('a change of the bytes is found in a file that is named', () => {
  afterEach(() => void vi.unstubAllEnvs());
  const ways: [string, Partial<TrustItem>][] = [
    ['as an argument', { command: 'node', args: ['src/x.js'] }],
    ['without its suffix', { command: 'node', args: ['./src/x'] }],
    ['in an option', { command: 'node', args: ['--require=./src/x.js', '-e', '0'] }],
    ['right after a letter', { command: 'node', args: ['-r./src/x.js'] }],
    ['as a URL', { command: 'node', args: ['--import', 'file://WORKSPACE/src/x.js'] }],
    ['by its absolute path', { command: 'node', args: ['WORKSPACE/src/x.js'] }],
    ['from another folder', { command: 'node', args: ['x.js'], cwd: 'src' }],
    ['as a module of Python', { command: 'sh', args: ['-c', 'python3 -m src.module'] }],
    ['as a package of Python', { command: 'sh', args: ['-c', 'python3 -m src.package'] }],
    ['in the place of a variable', { shell: true, command: `sh "\${HOOK:-src/x.js}"` }],
    ['in the place of a variable of MCP', { command: 'node', args: [`\${env:HOOK:-src/x.js}`] }],
    ['in the place of a variable, in very many characters', { args: [`\${HOOK:-${'./'.repeat(200)}src/x.js}`] }],
    ['with a part of it in the place of a variable', { args: [`--in=\${HOOK:-src/}x.\${HOOK:-js}`] }],
    ['behind a very long substitution', { shell: true, command: `node src/$(: ${'a'.repeat(300)})x.js` }],
    ['in a text for a shell', { shell: true, command: 'cd . && node "src/x.js";true' }],
    ['in a substitution', { shell: true, command: 'echo $(node src/x.js)' }],
    ['behind a variable', { shell: true, command: '$PROJECT_DIR/src/x.js' }],
    ['behind a variable in quotes', { shell: true, command: 'node "$PROJECT_DIR"/src/x.js' }],
    ['behind a variable with a default', { shell: true, command: `node "\${PWD:-.}/src/x.js"` }],
    ['behind a substitution', { shell: true, command: 'node "$(pwd)/src/x.js"' }],
    ['behind substitutions', { shell: true, command: 'node "$(cd "$(pwd)" && pwd)/src/a, (1)=b c.js"' }],
    ['from home', { shell: true, command: 'node ~/ws/src/x.js' }],
    ['from home by its variable', { shell: true, command: `node "\${HOME}"/ws/src/x.js` }],
    ['from home by a changed variable', { shell: true, command: `node \${HOME%/}/ws/src/x.js` }],
    ['from the home of a name', { shell: true, command: 'node ~some-body/ws/src/x.js' }],
    ['from the folder of the shell', { shell: true, command: 'node ~+/src/x.js' }],
    ['in pieces of quotes', { shell: true, command: `node s'r'c/""x.js` }],
    ['over two lines', { shell: true, command: 'node src/\\\nx.js' }],
    ['in quotes, with a blank', { shell: true, command: 'node "src/a, (1)=b c.js"' }],
    ['with backslashes', { shell: true, command: 'node src/a,\\ \\(1\\)=b\\ c.js' }],
    ['in a text in a text', { command: 'sh', args: ['-c', `sh -c "node 'src/a, (1)=b c.js'"`] }],
    ['as a URL with escapes', { command: 'node', args: ['file://WORKSPACE/src/a,%20(1)=b%20c.js'] }],
    ['as a URL with a query', { command: 'node', args: ['--import', './src/x.js?a#b'] }],
    ['in the first line of the program', { command: 'src/first' }],
    ['in the first line of that program', { command: 'src/second' }],
    ['in the first line of a program, with blanks', { command: 'src/third' }],
    ['right after letters', { command: 'sh', args: ['-nxsrc/x.js'] }],
    ['as a URL with a host', { command: 'node', args: ['file://localhostWORKSPACE/src/x.js'] }],
    ['in a URL of data', { command: 'node', args: ['data:text/javascript,import%20%22file://WORKSPACE/src/x.js%22'] }],
    ['as a module of Perl', { command: 'perl', args: ['-Isrc', '-Mpackage::module'] }],
    ['in a list', { command: 'node', args: ['a:b:src/\u00a0 x.js'] }],
    ['as what has to do with git', { command: 'git', args: ['-c', 'alias.x=!./src/x.js'] }],
    ['by a text for env', { command: 'env', args: ['-S', 'node "src/a,\\_(1)=b\\_c.js"'] }],
    ['in a folder that a shell goes into', { shell: true, command: 'cd "$PROJECT_DIR"/src && node x.js' }],
    ['in a folder within that', { shell: true, command: 'cd src; cd package && node x.js' }],
    ['in a folder that a program goes into', { command: 'env', args: ['--chdir=src', 'node', 'x'] }],
    ['in a folder that is looked through first', { shell: true, command: 'PATH=./src:$PATH x.js' }],
    ['in a folder that is in a variable', { shell: true, command: 'D=src; node "$D"/x.js' }],
    ['behind all arguments', { shell: true, command: 'node src/"$@"x$*.js' }],
    ['behind an argument', { shell: true, command: 'node src/$9x.js' }],
    ['with a blank that is none to a shell', { shell: true, command: 'node src/\u00a0\u2003.js' }],
    ['with the end of a line that is none to a shell', { shell: true, command: 'node src/y\r' }],
    ['with a backslash in quotes', { shell: true, command: 'node "src/a \\b.js"' }],
    ['as the program', { command: 'src/x.js' }],
    ['through a link', { command: 'node', args: ['link.js'] }],
    ['through a folder that is a link', { command: 'node', args: ['linked/x.js'] }],
    ['among the declared files', { command: 'node', files: ['src/*.js'] }],
    ['in a declared folder that is a link', { command: 'node', files: ['linked'] }],
    ['by a pattern through a link', { command: 'node', files: ['linked/**/*.js'] }],
    ['behind a link in a declared folder', { command: 'node', files: ['declared'] }],
    ['in a declared folder', { command: 'node', files: ['src'] }],
    ['in a declared folder of which a pattern wants no more than the name', { command: 'node', files: ['*', 'src'] }],
    ['by a pattern after a narrower one', { command: 'node', files: ['*', '**'] }],
  ];

  test.each(ways)('%s', async (_way, how) => {
    const place = makePlace();
    const { workspaceDir } = place;
    vi.stubEnv('HOME', place.root);
    const path = script(join(workspaceDir, 'src', 'x.js'), '#!/usr/bin/env node\n');
    script(join(workspaceDir, 'src', 'first'), `#!${path} -x\n`);
    script(join(workspaceDir, 'src', 'second'), `#!/usr/bin/env ./src/first\n`);
    script(join(workspaceDir, 'src', 'third'), '#!/bin/sh src/a, (1)=b c.js\n');
    mkdirSync(join(workspaceDir, 'src', 'package'));
    const names = ['a, (1)=b c.js', 'module.py', '\u00a0 x.js', '\u00a0\u2003.js', 'y\r', 'a \\b.js'];
    for (const name of names) linkSync(path, join(workspaceDir, 'src', name));
    for (const name of ['__main__.py', 'module.pm', 'x.js']) linkSync(path, join(workspaceDir, 'src', 'package', name));
    symlinkSync('src/x.js', join(workspaceDir, 'link.js'));
    symlinkSync('src', join(workspaceDir, 'linked'));
    write(join(workspaceDir, 'declared', 'a'), '');
    symlinkSync('../src', join(workspaceDir, 'declared', 'b'));
    symlinkSync('../declared', join(workspaceDir, 'src', 'back'));
    const args = how.args?.map((arg) => arg.replace('WORKSPACE', workspaceDir));
    const item = place.hook({ ...how, args });
    const before = await digestOf(item, place.trustPlace());
    expect(await digestOf(item, place.trustPlace())).toBe(before);

    script(path, '#!/usr/bin/env node\nevil();\n');

    expect(await digestOf(item, place.trustPlace())).not.toBe(before);
  });
});

test('a workspace that is named by a link is the workspace that it leads to', async () => {
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

describe('in an extension', () => {
  const changes: [string, (root: string) => void][] = [
    ['a new file', (root) => write(join(root, 'new'), '')],
    ['a new folder', (root) => mkdirSync(join(root, 'new'))],
    ['an executable bit', (root) => write(join(root, 'lib', 'helper.sh'), 'echo good\n', 0o755)],
    ['a new link', (root) => symlinkSync('lib', join(root, 'new'))],
    ['a hidden file', (root) => write(join(root, '.git', 'config'), '')],
  ];

  test.each(changes)('%s is a change', async (_what, change) => {
    const place = makePlace();
    const { root, item } = makeExtension(place);
    const before = await digestOf(item, place.trustPlace());
    change(root);

    expect(await digestOf(item, place.trustPlace())).not.toBe(before);
  });

  const refusals: [string, string, (root: string) => void][] = [
    ['a link that leads out of it', 'outside', (root) => symlinkSync('/etc/hostname', join(root, 'new'))],
    ['a link to a folder outside', 'outside', (root) => symlinkSync('../../..', join(root, 'new'))],
    ['a link that leads nowhere', 'unreadable', (root) => symlinkSync('nowhere', join(root, 'new'))],
    ['links in a circle', 'unreadable', (root) => symlinkSync('new', join(root, 'new'))],
    ['a pipe', 'unreadable', (root) => void execFileSync('mkfifo', [join(root, 'new')])],
    [
      'a name that is no UTF-8, and looks like another one',
      'unreadable',
      (root) => {
        write(join(root, '\ufffd'), '');
        writeFileSync(Buffer.concat([Buffer.from(join(root, '/')), Buffer.from([0xff])]), '');
      },
    ],
    [
      'more files than fit',
      'too-large',
      (root) => {
        for (let at = 0; at < 60; at++) write(join(root, `${at}`), '');
      },
    ],
    ['more bytes than fit', 'too-large', (root) => write(join(root, 'big'), Buffer.alloc(2_000))],
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
  ['outside', { shell: true, command: 'node --import=//proc/./$$/cwd/hooks/lint.sh' }],
  ['unreadable', { files: ['missing.txt'] }],
  ['no-executable', { command: './missing.sh' }],
  ['too-large', { args: Array.from({ length: 3_000 }, (_, at) => `word${at}`) }],
  ['too-large', { args: Array.from({ length: 3 }, () => 'a'.repeat(50_000)) }],
])('an item is %s where nothing can be bound to it: case %#', async (problem, more) => {
  const place = makePlace();

  await expect(digestOf(place.hook(more), place.trustPlace())).rejects.toMatchObject({ problem });
});

test('a link in the workspace that leads nowhere is refused where it is named, and elsewhere does not matter', async () => {
  const place = makePlace();
  symlinkSync('nowhere', join(place.workspaceDir, 'link'));
  symlinkSync('nowhere', join(place.root, 'link'));

  await expect(digestOf(place.hook({ args: ['link'] }), place.trustPlace())).rejects.toMatchObject({
    problem: 'unreadable',
  });
  await digestOf(place.hook({ args: [join(place.root, 'link'), '../link'] }), place.trustPlace());
});

test('a word that is longer than a system takes is not looked through', async () => {
  const place = makePlace();
  const item = place.hook({ args: ['x'.repeat(131_073)] });

  await expect(digestOf(item, place.trustPlace())).rejects.toMatchObject({ problem: 'too-large' });
});

test('a path that is too long from the root, and not from the folder of the program, is refused', async () => {
  const place = makePlace();
  const name = 'd'.repeat(200);
  const folder = `./${`${name}/`.repeat(20)}`;
  mkdirSync(join(place.workspaceDir, name));
  const item = place.hook({ command: 'sh', args: [`${folder}${'x'.repeat(70)}`] });

  await expect(digestOf(item, place.trustPlace())).rejects.toMatchObject({ problem: 'unreadable' });
});

test.each([
  ['no UTF-8', Buffer.from('#!/bin/sh ./\xff.sh\n', 'latin1')],
  ['longer than a system reads', `#!/bin/sh ./${'x'.repeat(250)}\n`],
])('a program whose first line is %s is refused: it may be another one to the system', async (_what, text) => {
  const place = makePlace();
  write(place.hookPath, text, 0o755);

  await expect(digestOf(place.hook(), place.trustPlace())).rejects.toMatchObject({ problem: 'unreadable' });
});

test('a link to a pipe is refused where it is named: what it will give is not there to be bound', async () => {
  const place = makePlace();
  execFileSync('mkfifo', [join(place.workspaceDir, 'pipe')]);
  symlinkSync('pipe', join(place.workspaceDir, 'link'));

  await expect(digestOf(place.hook({ args: ['link'] }), place.trustPlace())).rejects.toMatchObject({
    problem: 'unreadable',
  });
});

test('the question shows the scripts of an extension outside of the workspace, too', async () => {
  const place = makePlace();
  const root = join(place.stateDir, 'extensions', 'downloaded');
  script(join(root, 'hook.sh'), '#!/bin/sh\necho good\n');
  await place.gate().authorize(place.hook({ root, command: './hook.sh' }));

  expect(Object.keys(place.asked[0]?.scripts ?? {})).toEqual(['hook.sh']);
});

test('a path that goes up from a link is refused: it is one file by its text, and another one to the system', async () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'other'));
  symlinkSync('../other', join(place.workspaceDir, 'hooks', 'link'));
  const item = place.hook({ command: 'sh', args: ['hooks/link/../x.sh'] });

  await expect(digestOf(item, place.trustPlace())).rejects.toMatchObject({ problem: 'outside' });
  await digestOf(place.hook({ args: ['hooks/../../nowhere', '...', 'a..b'] }), place.trustPlace());
});

test('a folder may have any name', async () => {
  const place = makePlace();
  const root = join(place.workspaceDir, "$&$$'");
  const path = script(join(root, 'hook.sh'), '#!/bin/sh\necho "$1"\n');
  const item = place.hook({ root, command: `\${extensionPath}/hook.sh`, args: [`\${extensionPath}`] });

  expect(await attempt(place.gate(), item)).toContain(place.stateDir);
  expect(place.asked[0]?.executable).toBe(path);
});

test('whoever else has something to do has their turn while many files are read', async () => {
  const place = makePlace();
  for (let at = 0; at < 1_000; at++) write(join(place.workspaceDir, 'many', `${at}`), Buffer.alloc(20_000, at));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await digestOf(place.hook({ files: ['many'] }), place.trustPlace());
  clearInterval(timer);

  expect(turns).toBeGreaterThan(0);
});

test('the approver is told of folders that are not bound', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ command: 'node', args: ['.', './hooks'] }));

  expect(place.asked[0]?.unbound).toEqual(['.', 'hooks']);
});

test.each([
  ['a/b.js', 'a/*.js', true],
  ['a/b/c.js', 'a/*.js', false],
  ['a/b/c.js', 'a/**/*.js', true],
  ['a/c.js', 'a/**/*.js', true],
  ['a/c.js', '**', true],
  ['ab.js', '?b.js', true],
  ['a+(b).js', 'a+(b).*', true],
  ['axb', 'a.b', false],
  ['a'.repeat(255), `${'*a'.repeat(100)}b`, false],
])('the path %s and the pattern %s: %s', (path, pattern, fits) => {
  expect(matchesPattern(path, pattern.split('/'))).toBe(fits);
});

test('the workspace of a test has no links in it', () => {
  const { workspaceDir } = makePlace();
  expect(realpathSync(workspaceDir)).toBe(workspaceDir);
});
