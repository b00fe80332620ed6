import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOf } from 'keelson';
import { loadSkills } from 'keelson/skills';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { makePlace, manifest, type Place } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const claude = { skillFolders: ['.app/skills', '.agents/skills', '.claude/skills'], compat: ['claude'] } as const;

/** Returns a function that writes a plugin of the user or of the workspace, and returns its directory. */
const pluginOf = (scope: string) => (place: Place, name: string, contents: Readonly<Record<string, string>>) => {
  const parent = scope === 'user' ? join(place.userDir, 'extensions') : join(place.workspaceDir, '.app/extensions');
  const all = { '.claude-plugin/plugin.json': JSON.stringify({ name, version: '1.0.0' }), ...contents };
  for (const [path, text] of Object.entries(all)) write(join(parent, name, path), text);
  return join(parent, name);
};
const plugin = pluginOf('user');

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

const skill = (name: string, body = 'Do it.') => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}\n`;

describe('a SKILL.md without front matter', () => {
  test.each([
    ['# Moor\n\nMoors a ship\nat the *quay*.\n\nThen rest.', 'Moors a ship at the *quay*.'],
    ['Moors a ship.\n# Steps\nPull.', 'Moors a ship.'],
    ['# Moor a ship', 'Moor a ship'],
    ['\ufeff\r\n<!-- lint off -->\r\n# Moor\r\n```sh\r\nmoor\r\n```\r\nMoors a ship.\r\n', 'Moors a ship.'],
    ['---\nMoors a ship.', 'Moors a ship.'],
    ['---\nname: moor\n---\n## How\n\nMoors a ship.', 'Moors a ship.'],
    ['---\ndescription:\n---\nMoors a ship.', 'Moors a ship.'],
    ['---\ndescription: Berths.\n---\nMoors a ship.', 'Berths.'],
  ])('in a directory of Claude Code is described by its first paragraph: %j', async (text, description) => {
    const place = makePlace();
    plugin(place, 'harbour', { 'skills/moor/SKILL.md': text });
    write(join(place.workspaceDir, '.claude/skills/moor/SKILL.md'), text);

    const { loader } = await place.load({ ...claude, approve: place.yes });

    expect(loader.skills.list().map(({ id, description }) => [id, description])).toEqual([
      ['harbour:moor', description],
      ['moor', description],
    ]);
    expect(textOf(await loader.skills.invoke('moor'))).toContain(
      text.includes('Moor a ship') ? 'Moor' : 'Moors a ship',
    );
  });

  test.each(['', ' \n', '---\n---\n', '***\n\n---'])('and without any word is left out: %j', async (text) => {
    const place = makePlace();
    plugin(place, 'harbour', { 'skills/moor/SKILL.md': text });

    const { loader } = await place.load(claude);

    expect(loader.skills.list()).toEqual([]);
    expect(loader.status().diagnostics).toMatchObject([{ level: 'warning', problems: [{ path: 'description' }] }]);
  });

  test('after a heading of half a megabyte is described by its first paragraph', async () => {
    const place = makePlace();
    plugin(place, 'harbour', { 'skills/moor/SKILL.md': `# ${'x '.repeat(250_000)}\n\nMoors.` });

    const { loader } = await place.load(claude);

    expect(loader.skills.list()).toMatchObject([{ description: 'Moors.' }]);
  });

  test('in a directory of another program is left out', async () => {
    const place = makePlace();
    place.user('native', manifest('native'));
    write(join(place.userDir, 'extensions/native/skills/moor/SKILL.md'), 'Moors a ship.');
    write(join(place.workspaceDir, '.agents/skills/moor/SKILL.md'), 'Moors a ship.');

    const { loader } = await place.load({ ...claude, approve: place.yes });

    expect(loader.skills.list()).toEqual([]);
    expect(loader.status().diagnostics).toHaveLength(2);
  });

  test('is accepted by `loadSkills` if `describesItself` says so', async () => {
    const place = makePlace();
    const folder = join(place.root, 'skills');
    write(join(folder, 'moor/SKILL.md'), 'Moors a ship.');
    const gate = createTrustGate({ workspaceDir: place.workspaceDir, stateDir: place.userDir });
    const load = (describesItself?: boolean) =>
      loadSkills({ gate, workspaceDir: place.workspaceDir, roots: [{ scope: 'user', folder, describesItself }] });

    expect((await load(true)).entries).toHaveLength(1);
    expect((await load()).entries).toEqual([]);
  });
});

describe('a link inside of a plugin', () => {
  test.each(['user', 'workspace'])('of the %s is followed: skills, their files, and commands', async (scope) => {
    const place = makePlace();
    const root = pluginOf(scope)(place, 'p', {
      'shared/one/SKILL.md': skill('one', 'One.'),
      'shared/two.md': skill('two', 'Two.'),
      'shared/files/notes.md': 'The notes.',
      'shared/commands/three.md': 'Three.',
    });
    link('../shared/one', join(root, 'skills/one'));
    link('../../shared/two.md', join(root, 'skills/two/SKILL.md'));
    link('../../shared/files', join(root, 'skills/two/files'));
    link('../../shared/files/notes.md', join(root, 'skills/two/notes.md'));
    link('../shared/commands', join(root, 'commands/more'));
    link('..', join(root, 'commands/loop'));
    const model = scriptedModel([calls('skill', { name: 'p:two', file: 'files/notes.md' }), says('done')]);
    const { loader, agent } = await place.load({ ...claude, approve: place.yes }, { model });

    expect(loader.skills.list().map(({ id }) => id)).toEqual(
      expect.arrayContaining(['p:one', 'p:two', 'p:more-three']),
    );
    expect(textOf(await loader.skills.invoke('two'))).toMatch(/Two\.[\s\S]*\nfiles\/notes\.md\nnotes\.md$/);
    expect(textOf(await loader.skills.invoke('more-three'))).toBe('Three.');
    expect(JSON.stringify((await agent.run('go')).messages)).toContain('The notes.');
  });

  test('that leads outside is not followed, and the file of a skill behind it is refused', async () => {
    const place = makePlace();
    const outside = write(join(place.root, 'elsewhere/secret.md'), skill('secret', 'The secret.'));
    const root = plugin(place, 'p', { 'skills/one/SKILL.md': skill('one') });
    link(outside, join(root, 'skills/two/SKILL.md'));
    link(outside, join(root, 'skills/one/secret.md'));
    link(dirname(outside), join(root, 'commands/more'));
    const model = scriptedModel([calls('skill', { name: 'p:one', file: 'secret.md' }), says('done')]);
    const { loader, agent } = await place.load(claude, { model });

    expect(loader.skills.list().map(({ id }) => id)).toEqual(['p:one']);
    expect(textOf(await loader.skills.invoke('one'))).toBe('Do it.');
    expect(JSON.stringify((await agent.run('go')).messages)).not.toContain('The secret');
  });
});

describe('skills of one name', () => {
  const idsOf = async (place: Place) => {
    const { loader } = await place.load({ ...claude, approve: place.yes });
    return { loader, ids: loader.skills.list().map(({ id, name }) => `${id} ${name}`) };
  };

  test('in different directories of a plugin are told apart by directory', async () => {
    const place = makePlace();
    plugin(place, 'p', {
      'skills/web/SKILL.md': skill('deploy', 'To the web.'),
      'skills/store/SKILL.md': skill('deploy', 'To the store.'),
      'skills/other/SKILL.md': skill('other'),
    });
    const { loader, ids } = await idsOf(place);

    expect(ids).toEqual(['p:other other', 'p:store deploy', 'p:web deploy']);
    expect(textOf(await loader.skills.invoke('p:web'))).toBe('To the web.');
    expect(textOf(await loader.skills.invoke('p:store'))).toBe('To the store.');
    expect(() => loader.skills.get('deploy')).toThrow(/p:store, p:web/);
    expect(loader.status().diagnostics.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('keep the name for the directory of that name, and never take the id of another skill', async () => {
    const place = makePlace();
    const more = { skills: ['./more'] };
    plugin(place, 'p', {
      '.claude-plugin/plugin.json': JSON.stringify({ name: 'p', version: '1.0.0', ...more }),
      'skills/deploy/SKILL.md': skill('deploy'),
      'more/deploy/SKILL.md': skill('deploy'),
      'more/web/SKILL.md': skill('deploy'),
      'skills/x/SKILL.md': skill('web'),
    });

    expect((await idsOf(place)).ids).toEqual([
      'p:deploy deploy',
      'p:web web',
      'p:more-deploy deploy',
      'p:more-web deploy',
    ]);
  });

  test('of the workspace are told apart by directory, and a copy for another program counts once', async () => {
    const place = makePlace();
    for (const [path, text] of [
      ['.app/skills/moor', skill('moor', 'One.')],
      ['.agents/skills/moor', skill('moor', 'Two.')],
      ['.claude/skills/moor', skill('moor', 'Two.')],
      ['.claude/skills/berth', skill('moor', 'Three.')],
    ] as const) {
      write(join(place.workspaceDir, path, 'SKILL.md'), text);
    }
    const { loader, ids } = await idsOf(place);

    expect(ids).toEqual(['moor moor', 'skills-moor moor', 'berth moor']);
    const bodies = await Promise.all(['moor', 'skills-moor', 'berth'].map((id) => loader.skills.invoke(id)));
    expect(bodies.map((body) => textOf(body))).toEqual(['One.', 'Two.', 'Three.']);
    expect(loader.status().diagnostics.map(({ level }) => level)).toEqual(expect.arrayContaining(['info']));
  });
});
