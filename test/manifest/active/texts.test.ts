import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

/** Loads a plugin with these files. Returns its skills and its diagnostics about names. */
async function load(contents: Readonly<Record<string, string>>) {
  const place = makePlace();
  const root = join(place.userDir, 'extensions', 'git');
  write(join(root, '.claude-plugin/plugin.json'), JSON.stringify({ name: 'git', version: '1.0.0' }));
  for (const [path, text] of Object.entries(contents)) write(join(root, path), text);
  const { loader } = await place.load({ compat: ['claude'] });
  const diagnostics = loader
    .status()
    .diagnostics.filter(({ problems }) => problems.some(({ path }) => path === 'name'));
  const skills = loader.skills.list().map(({ name, source }) => `${name} ${source.slice(root.length + 1)}`);
  const told = diagnostics.map(({ level, message }) => `${level} ${message.replaceAll(`${root}/`, '')}`);
  const warned = place.logger.lines.filter((line) => line.startsWith('warn'));
  return { skills, told, warned };
}

test('the second of two commands of one name is left out with a warning that names both files', async () => {
  const { skills, told, warned } = await load({
    'commands/git/commit.md': 'Commits the changes.',
    'commands/git-commit.md': 'Commits all changes.',
  });

  expect(skills).toEqual(['git-commit commands/git/commit.md']);
  expect(told).toEqual([
    'warning Extension "git" (commands/git-commit.md): name: the command is left out, because commands/git/commit.md has the same name "git-commit"',
  ]);
  expect(warned).toHaveLength(1);
});

test('a skill is used instead of a command of its name, without a warning', async () => {
  const { skills, told, warned } = await load({
    'skills/git-commit/SKILL.md': '---\nname: git-commit\ndescription: Commits.\n---\nCommit.\n',
    'commands/git/commit.md': 'Commits the changes.',
    'commands/git-commit.md': 'Commits all changes.',
  });

  expect(skills).toEqual(['git-commit skills/git-commit/SKILL.md']);
  const skill = 'name: the command is left out, because skills/git-commit/SKILL.md has the same name "git-commit"';
  expect(told.sort()).toEqual([
    `info Extension "git" (commands/git-commit.md): ${skill}`,
    `info Extension "git" (commands/git/commit.md): ${skill}`,
  ]);
  expect(warned).toEqual([]);
});

/** Loads a plugin with a command and skills, all of the name `commit`. Returns the ids of the skills. */
async function idsOf(contents: Readonly<Record<string, string>>) {
  const place = makePlace();
  const root = join(place.userDir, 'extensions', 'git');
  write(join(root, '.claude-plugin/plugin.json'), JSON.stringify({ name: 'git', version: '1.0.0' }));
  for (const [path, text] of Object.entries(contents)) write(join(root, path), text);
  const { loader } = await place.load({ compat: ['claude'] });
  return loader.skills.list().map(({ id, source }) => `${id} ${source.slice(root.length + 1)}`);
}

const named = '---\nname: commit\ndescription: Commits.\n---\nCommit.\n';

test.each([
  [
    'keeps its name if two skills of its name have the ids of their folders',
    ['skills/web/SKILL.md', 'skills/store/SKILL.md'],
    ['git:store skills/store/SKILL.md', 'git:web skills/web/SKILL.md', 'git:commit commands/commit.md'],
  ],
  [
    'is replaced if the folder of one of these skills has its name',
    ['skills/commit/SKILL.md', 'skills/web/SKILL.md'],
    ['git:commit skills/commit/SKILL.md', 'git:web skills/web/SKILL.md'],
  ],
])('a command %s', async (_, paths, ids) => {
  const skills = Object.fromEntries(paths.map((path) => [path, `${named}${path}`]));

  expect(await idsOf({ ...skills, 'commands/commit.md': 'Commits the changes.' })).toEqual(ids);
});
