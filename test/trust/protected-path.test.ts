import { mkdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace } from '../support/trust/place.js';

test('C23: files that decide on trust are protected, even if they are missing', () => {
  const place = makePlace();
  const { isProtectedPath } = place.gate();
  const { workspaceDir, stateDir } = place;

  const paths = [
    place.storePath,
    join(stateDir, 'approved', 'x'),
    join(stateDir, 'extensions', 'new', 'manifest.json'),
    ...[
      '.app/hooks.json',
      '.app',
      '.app/extensions/x/y.sh',
      '.mcp.json',
      '.claude/settings.json',
      '.git/hooks/pre-commit',
      ...['.git', '.github', './.GIT/'],
    ],
    ...['./src/../.mcp.json', '.MCP.json', '.App/Hooks.json', join(workspaceDir, '.mcp.json')],
    join(homedir(), '.claude', 'settings.json'),
  ];

  expect(paths.filter((path) => !isProtectedPath(path))).toEqual([]);
});

test.each(['.v\u017fcode/tasks.json', '.git/hoo\u212as/pre-commit', '.VSCODE/tasks.json'])(
  'C23: a spelling that a file system without case treats as the same is protected: %s',
  (path) => {
    expect(makePlace().gate().isProtectedPath(path)).toBe(true);
  },
);

test('C23: composed and decomposed characters are the same', () => {
  const place = makePlace();
  const stateDir = join(place.root, 'home', 'caf\u00e9');

  expect(place.gate({ stateDir }).isProtectedPath(join(place.root, 'home', 'cafe\u0301', 'x'))).toBe(true);
});

test('C23: other paths are not protected', () => {
  const place = makePlace();
  const { isProtectedPath } = place.gate();

  const paths = [
    'src/main.ts',
    '.',
    'mcp.json',
    '.apple/x',
    '.mcp.json.md',
    '.gitignore',
    join(place.root, 'x'),
    ...['.github/workflows/ci.yml', '.git/index', 'src/.git', '.gitmodule'],
  ];

  expect(paths.filter(isProtectedPath)).toEqual([]);
});

test('C23: links to a protected path are protected, including links created later', () => {
  const place = makePlace();
  const { isProtectedPath } = place.gate();
  const innocent = join(place.workspaceDir, 'innocent');
  expect(isProtectedPath('innocent/hooks.json')).toBe(false);

  symlinkSync(place.stateDir, innocent);

  expect(isProtectedPath('innocent/new.json')).toBe(true);
});

test('C23: the target of a protected link is protected', () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'real'));
  symlinkSync('real', join(place.workspaceDir, '.claude'));

  expect(place.gate().isProtectedPath('real/settings.json')).toBe(true);
});

test('C23: a chain of links through which a protected file would be created is protected, and a cycle is harmless', () => {
  const place = makePlace();
  const { workspaceDir } = place;
  symlinkSync('.mcp.json', join(workspaceDir, 'first'));
  symlinkSync('first', join(workspaceDir, 'second'));
  symlinkSync('circle', join(workspaceDir, 'circle'));
  symlinkSync('made-later', join(workspaceDir, '.claude'));
  const { isProtectedPath } = place.gate();

  expect(['first', 'second', 'made-later/settings.json'].map(isProtectedPath)).toEqual([true, true, true]);
  expect(isProtectedPath('circle')).toBe(false);
});

test('C23: ".." after a link is resolved as the system does', () => {
  const place = makePlace();
  mkdirSync(join(place.workspaceDir, 'other'));
  symlinkSync('../other', join(place.workspaceDir, 'hooks', 'link'));
  const { isProtectedPath } = place.gate();

  expect(isProtectedPath('hooks/link/../.mcp.json')).toBe(true);
  expect(isProtectedPath(`${place.workspaceDir}/hooks/link/../.mcp.json`)).toBe(true);
  expect(isProtectedPath('hooks/link/../readme.md')).toBe(false);
});
