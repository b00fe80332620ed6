import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOf } from 'keelson';
import { describe, expect, test } from 'vitest';
import { readSkillFile } from '../../src/skills/file.js';
import { makePlace, manifest } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const read = (fields: string, folder = 'x', body = 'Do it.\n') => readSkillFile(`---\n${fields}\n---\n${body}`, folder);
const oddities = async (fields: string, folder?: string, body?: string) =>
  (await read(fields, folder, body)).problems.map(({ path, message }) => `${path}: ${message}`);
const levels = async (fields: string, folder?: string, body?: string) =>
  (await read(fields, folder, body)).problems.map(({ level, path }) => `${level} ${path}`);

describe('a SKILL.md of the Agent Skills standard', () => {
  test('needs only a name and a description', async () => {
    const place = makePlace();
    write(join(place.workspaceDir, '.agents/skills/x/SKILL.md'), '---\nname: x\ndescription: Runs scripts/x.sh.\n---');
    const { loader } = await place.load({ skillFolders: ['.agents/skills'], approve: place.yes });

    expect(textOf(await loader.skills.invoke('x'))).toBe('Runs scripts/x.sh.');
    expect(loader.status().diagnostics).toMatchObject([
      { level: 'warning', problems: [{ message: expect.stringContaining('no instructions') }] },
    ]);
  });

  test.each(['технический-навык', '技能', 'café', 'a1-b2'])('may have a name in any script: %s', async (name) => {
    expect(await oddities(`name: ${name}\ndescription: d`, name)).toEqual([]);
  });

  test.each(['-rf', 'CON', 'nul.txt', 'a.', 'toString'])('is refused if its name is %j', async (name) => {
    const { skill, problems } = await read(`name: ${name}\ndescription: d`, 'x');

    expect(skill).toBeUndefined();
    expect(problems).toMatchObject([{ path: 'name', message: expect.stringContaining(`got "${name}"`) }]);
  });

  test('has one name, whatever the Unicode normalisation', async () => {
    const { skill, problems } = await read('name: cafe\u0301\ndescription: d', 'caf\u00e9');

    expect(skill?.name).toBe('caf\u00e9');
    expect(problems).toEqual([]);
    expect(await oddities('name: caf\u00e9\ndescription: d', 'cafe\u0301')).toEqual([]);
  });

  test.each(['MySkill', 'НАВЫК', 'x-', 'x--y', 'my_skill', 'my skill', '🚢'])(
    'is loaded if its name deviates from the standard: %s',
    async (name) => {
      expect((await read(`name: ${name}\ndescription: d`, name)).skill?.name).toBe(name);
      expect(await oddities(`name: ${name}\ndescription: d`, name)).toEqual([
        'name: should consist of lower case letters, digits and single hyphens',
      ]);
      expect(await levels(`name: ${name}\ndescription: d`, name)).toEqual(['info name']);
    },
  );

  test('is loaded if its name is too long or contains a colon', async () => {
    expect(await oddities(`name: ${'a'.repeat(65)}\ndescription: d`, 'a'.repeat(65))).toEqual([
      'name: should have at most 64 characters',
    ]);
    expect((await read('name: "ship:moor\uff1anow"\ndescription: d', 'x')).skill?.name).toBe('ship-moor-now');
    expect(await oddities('name: ship:moor\ndescription: d', 'ship-moor')).toEqual([
      'name: must not contain a colon: "ship-moor" is used',
    ]);
  });

  test.each(['description:\n  Trigger: when asked', 'description:\n  Use when: asked\n  And then: too'])(
    'has a description even if YAML parses it as a map: %j',
    async (fields) => {
      expect((await read(fields)).skill?.description).toMatch(/^(Trigger: when asked|Use when: asked And then: too)$/);
    },
  );

  test('adds `when_to_use` to its description', async () => {
    const { skill, problems } = await read('name: x\ndescription: Moors ships.\nwhen_to_use: When one arrives.');

    expect(skill?.description).toBe('Moors ships. When one arrives.');
    expect(problems).toEqual([]);
    expect((await read('name: x\nwhen_to_use: When one arrives.')).problems).toMatchObject([{ path: 'description' }]);
  });

  test.each([
    ['metadata: {"port": {"bins": ["jq"]}, "by": "me", "__proto__": {}}', { port: '{"bins":["jq"]}', by: 'me' }],
    ['metadata:\n  {\n    "by": "me",\n    "n": 1\n  }', { by: 'me', n: '1' }],
    ['metadata: [a, b]', {}],
    ['metadata: "[1]"', {}],
    ['metadata: {by: me', {}],
  ])('may have metadata in JSON: %j', async (fields, metadata) => {
    expect((await read(`name: x\ndescription: d\n${fields}`)).skill?.metadata).toEqual(metadata);
  });

  test('that is not for users has a note that users can invoke it', async () => {
    expect(await oddities('name: x\ndescription: d\nuser-invocable: false')).toEqual([
      'user-invocable: ignored: users can invoke every skill',
    ]);
    expect(await oddities('name: x\ndescription: d\nuser-invocable: true')).toEqual([]);
  });

  test('has a problem for each ignored key of other programs, and a lost guard is an error', async () => {
    const hooks =
      'hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./guard.sh';

    const fields = `name: x\ndescription: d\nversion: 1\n${hooks}\ncontext: fork\nmodel: large\ndisallowed-tools: Bash`;
    expect(await oddities(fields)).toEqual([
      'disallowed-tools: not supported, so it guards nothing',
      'hooks: not supported, so it guards nothing',
      'context: ignored: not supported',
      'model: ignored: not supported',
    ]);
    expect(await levels(fields)).toEqual(['error disallowed-tools', 'error hooks', 'info context', 'info model']);
  });

  test.each(['yes', 'on', '1', 'truee', '[true]'])('has an error if disable-model-invocation is %s', async (value) => {
    const fields = `name: x\ndescription: d\ndisable-model-invocation: ${value}`;
    const shown = value === '[true]' ? '["true"]' : value;

    expect(await oddities(fields)).toEqual([
      `disable-model-invocation: must be true or false, got ${JSON.stringify(shown)}: the model may invoke the skill`,
    ]);
    expect(await levels(fields)).toEqual(['error disable-model-invocation']);
  });

  test.each(['true', '"True"', 'FALSE', '~', ''])('has no problem if disable-model-invocation is %j', async (value) => {
    expect(await oddities(`name: x\ndescription: d\ndisable-model-invocation: ${value}`)).toEqual([]);
  });
});

describe('locations of skills', () => {
  const file = (text: string) => `---\nname: x\ndescription: d\n---\n${text}`;
  const folders = ['.app/skills', '.agents/skills'];

  test('the first of two skills with one name is used, in the home directory and in the workspace', async () => {
    const place = makePlace();
    const home = join(place.root, 'home');
    const before = process.env.HOME;
    process.env.HOME = home;
    try {
      for (const root of [home, place.workspaceDir]) {
        for (const folder of folders) write(join(root, folder, 'x/SKILL.md'), file(`${root} ${folder}`));
      }
      const mine = await place.load({ skillFolders: folders });
      const ours = await place.load({ skillFolders: folders, approve: place.yes });

      expect(textOf(await mine.loader.skills.invoke('x'))).toBe(`${home} .app/skills`);
      expect(textOf(await ours.loader.skills.invoke('x'))).toBe(`${place.workspaceDir} .app/skills`);
    } finally {
      process.env.HOME = before;
    }
  });

  test('directories of tools are not listed as files of a skill', async () => {
    const place = makePlace();
    const root = place.user('ext', manifest('ext', { skills: ['.'] }));
    write(join(root, 'SKILL.md'), file('Read a.md.'));
    for (const path of ['a.md', '.git/config', 'node_modules/x/y.js', 'src/__pycache__/z.pyc', '.env.example']) {
      write(join(root, path), 'x');
    }
    const { loader } = await place.load();

    expect(
      textOf(await loader.skills.invoke('x'))
        .split('\n')
        .slice(3),
    ).toEqual(['.env.example', 'a.md', 'manifest.json']);
  });

  test('a skill behind a link that leads outside is reported', async () => {
    const place = makePlace();
    const elsewhere = write(join(place.root, 'elsewhere/x/SKILL.md'), file('Elsewhere.'));
    const link = (target: string, path: string) => {
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(target, path);
    };
    const skills = join(place.workspaceDir, '.agents/skills');
    link(elsewhere, join(skills, 'a/SKILL.md'));
    link(dirname(elsewhere), join(skills, 'b'));
    link(join(skills, 'loop'), join(skills, 'loop'));
    const root = place.user('ext', manifest('ext'));
    link(elsewhere, join(root, 'skills/c/SKILL.md'));
    link(dirname(elsewhere), join(root, 'skills/d'));
    const { loader } = await place.load({ skillFolders: folders, approve: place.yes });

    expect(loader.skills.list()).toEqual([]);
    expect(place.asked).toEqual([]);
    expect(loader.status().diagnostics.map(({ level, source }) => [level, source])).toEqual([
      ['warning', join(root, 'skills/c')],
      ['warning', join(root, 'skills/d')],
      ['warning', join(skills, 'a')],
      ['warning', join(skills, 'b')],
    ]);
  });
});
