import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveExecutable, safePath } from '../../src/process/executable.js';
import { runProcess } from '../../src/process/run-process.js';
import { scratchFolder, script, write } from '../support/process/scratch.js';

function setUp() {
  const root = scratchFolder();
  const workspace = join(root, 'ws');
  mkdirSync(workspace);
  const tool = script(join(root, 'usr', 'tool'), '#!/bin/sh\necho real\n');
  const find = (command: string, path: string[], base = workspace) =>
    resolveExecutable({ command, base, path: path.join(delimiter), exclude: [workspace] });
  return { root, workspace, tool, find, usr: join(root, 'usr') };
}

test('a bare name is found in PATH, with links followed', async () => {
  const { root, tool, find, usr } = setUp();
  mkdirSync(join(root, 'links'));
  symlinkSync(tool, join(root, 'links', 'alias'));

  expect(await find('tool', ['/nowhere', usr])).toEqual({ path: tool, realPath: tool });
  expect(await find('alias', [join(root, 'links')])).toEqual({ path: join(root, 'links', 'alias'), realPath: tool });
});

test('empty and relative PATH entries and those in the workspace are ignored', async () => {
  const { root, workspace, tool, find, usr } = setUp();
  script(join(workspace, 'bin', 'tool'), '#!/bin/sh\necho evil\n');
  symlinkSync(join(workspace, 'bin'), join(root, 'linked'));

  const path = ['', '.', './bin', 'bin', join(workspace, 'bin'), `${usr}/../ws/bin`, join(root, 'linked'), usr];

  expect(await find('tool', path)).toEqual({ path: tool, realPath: tool });
  expect(await safePath(path.join(delimiter), [workspace])).toBe(usr);
});

test('a workspace given as a link excludes PATH entries by both paths', async () => {
  const { root, workspace, usr } = setUp();
  const named = join(root, 'named');
  symlinkSync(workspace, named);

  expect(await safePath([join(workspace, 'bin'), join(named, 'bin'), usr].join(delimiter), [named])).toBe(usr);
});

test('a link in PATH to a program in the workspace is ignored', async () => {
  const { root, workspace, tool, find, usr } = setUp();
  const evil = script(join(workspace, 'evil'), '#!/bin/sh\n');
  mkdirSync(join(root, 'links'));
  symlinkSync(evil, join(root, 'links', 'tool'));

  expect(await find('tool', [join(root, 'links'), usr])).toEqual({ path: tool, realPath: tool });
});

test('a relative path is resolved against the base, an absolute path is used as it is', async () => {
  const { workspace, tool, find } = setUp();
  const hook = script(join(workspace, 'hooks', 'a.sh'), '#!/bin/sh\n');

  expect(await find('./hooks/a.sh', [])).toEqual({ path: hook, realPath: hook });
  expect(await find('hooks/a.sh', [])).toEqual({ path: hook, realPath: hook });
  expect(await find(tool, [])).toEqual({ path: tool, realPath: tool });
});

test('a missing program gives a failure code, and a file that is not executable is found', async () => {
  const { root, find, usr } = setUp();
  write(join(root, 'plain', 'tool'), '');

  expect(await find('tool2', [usr])).toMatchObject({ failure: { code: 'not-found' } });
  // The start of the program tells what is wrong with it.
  const plain = join(root, 'plain', 'tool');
  expect(await find('tool', [join(root, 'plain')])).toEqual({ path: plain, realPath: plain });
  expect(await find('', [usr])).toMatchObject({ failure: { code: 'not-found' } });
  expect(await find('a\0b', [usr])).toMatchObject({ failure: { code: 'not-found' } });
  expect(await find('./a\0b', [])).toMatchObject({ failure: { code: 'bad-argument' } });
});

test('F6: a command that contains its arguments is not found, and the hint says what to do', async () => {
  const { find, usr } = setUp();

  expect(await find('tool --all', [usr])).toEqual({
    failure: {
      code: 'not-found',
      message: '"tool --all" was not found in PATH',
      hint: 'Pass the arguments as a separate list.',
    },
  });
});

test('a file in PATH that is not executable does not hide a program in a later entry', async () => {
  const { root, tool, find, usr } = setUp();
  write(join(root, 'plain', 'tool'), '');

  expect(await find('tool', [join(root, 'plain'), usr])).toEqual({ path: tool, realPath: tool });
});

test('a directory with the name of a program is not found', async () => {
  const { root, tool, find, usr } = setUp();
  mkdirSync(join(root, 'source', 'tool'), { recursive: true });

  expect(await find('tool', [join(root, 'source'), usr])).toEqual({ path: tool, realPath: tool });
  expect(await find('tool', [join(root, 'source')])).toMatchObject({ failure: { code: 'not-found' } });
  expect(await find(join(root, 'source', 'tool'), [])).toMatchObject({ failure: { code: 'is-directory' } });
});

test('a program sees the path that it was found as in argv0', async () => {
  const { root, find } = setUp();
  mkdirSync(join(root, 'links'));
  symlinkSync(process.execPath, join(root, 'links', 'my-node'));
  const found = await find('my-node', [join(root, 'links')]);
  if ('failure' in found) throw found;

  const { stdout } = await runProcess({
    ...{ command: found.realPath, argv0: found.path, args: ['-p', 'process.argv0'], env: {} },
    timeoutMs: 5_000,
  });

  expect(stdout).toBe(`${join(root, 'links', 'my-node')}\n`);
});
