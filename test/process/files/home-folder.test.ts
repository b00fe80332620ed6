import { mkdirSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createTrustGate } from 'keelson/trust';
import { expect, onTestFinished, test } from 'vitest';
import { homeFolder } from '../../../src/process/files/home-folder.js';
import { workspaceRoots } from '../../../src/process/files/workspace.js';
import { scratchFolder, write } from '../../support/process/scratch.js';

function setHome(folder: string): string {
  const before = process.env.HOME;
  process.env.HOME = folder;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  return folder;
}

const own = userInfo().homedir;

test.each<[string, (root: string) => string]>([
  ['the directory of a repository', (root) => root],
  ['a directory in a repository', (root) => join(root, 'tools', 'home')],
  [
    'a link into a repository',
    (root) => {
      const link = join(scratchFolder(), 'link');
      symlinkSync(root, link);
      return link;
    },
  ],
])('a HOME that is %s is not the home directory of the user', (_case, homeOf) => {
  const root = scratchFolder();
  mkdirSync(join(root, '.git'));
  mkdirSync(join(root, 'tools', 'home'), { recursive: true });
  setHome(homeOf(root));

  expect(homeFolder()).toBe(own);
  expect(workspaceRoots(root)).toEqual([root]);
  expect(createTrustGate({ workspaceDir: root, appName: 'app' }).store.path).toBe(join(own, '.app/trusted-hooks.json'));
});

test('a HOME in a worktree, where `.git` is a file, is not the home directory of the user', () => {
  const root = scratchFolder();
  write(join(root, '.git'), 'gitdir: /elsewhere\n');
  setHome(root);

  expect(homeFolder()).toBe(own);
});

test('a HOME outside of repositories is the home directory and not a workspace', () => {
  const home = setHome(scratchFolder());

  expect(homeFolder()).toBe(home);
  expect(workspaceRoots(home)).toEqual([]);
  expect(workspaceRoots(join(home, 'work'))).toEqual([join(home, 'work')]);
});

test('a relative HOME does not count as a home directory', () => {
  setHome('home');

  expect(homeFolder()).toBe(undefined);
});
