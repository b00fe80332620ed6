import { join } from 'node:path';
import { textOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { makePlace, manifest, type Place } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const options = { skillFolders: ['.agents/skills'] };

function project(place: Place, folder: string, [fields = '', body = 'Do it.']: readonly string[] = []): void {
  const text = `---\nname: ${folder}\ndescription: Does it.\n${fields}---\n${body}\n`;
  write(join(place.workspaceDir, '.agents/skills', folder, 'SKILL.md'), text);
}

describe('a SKILL.md written for Claude Code', () => {
  test("has the user's arguments in place of $ARGUMENTS, or nothing without arguments", async () => {
    const place = makePlace();
    project(place, 'fix', ['argument-hint: "[issue]"\n', 'Fix $ARGUMENTS. Leave $1, $ARGUMENTS[0] and $ARGUMENTS_X.']);
    project(place, 'plain', ['', 'Say {{arguments}}.']);
    const { loader } = await place.load({ ...options, approve: place.yes });

    expect(loader.skills.get('fix').parameters).toEqual([{ name: 'arguments' }]);
    expect(await loader.skills.invoke('fix', { arguments: '#42 $& {{arguments}}' })).toEqual({
      role: 'user',
      content: 'Fix #42 $& {{arguments}}. Leave $1, $ARGUMENTS[0] and $ARGUMENTS_X.',
    });
    expect(textOf(await loader.skills.invoke('fix'))).toContain('Fix . Leave');
    expect(await loader.skills.invoke('plain')).toEqual({ role: 'user', content: 'Say {{arguments}}.' });
    await expect(loader.skills.invoke('plain', { arguments: 'x' })).rejects.toMatchObject({
      code: 'ERR_SKILL_PARAMETERS',
    });
  });

  test('may refer to its own directory, and in an extension package to the package directory', async () => {
    const place = makePlace();
    const body = '$' + '{CLAUDE_SKILL_DIR}/a $' + '{CLAUDE_PLUGIN_ROOT}/b $' + '{HOME}';
    project(place, 'alone', ['', body]);
    const root = place.user('x', manifest('x'));
    write(join(root, 'skills/inner/SKILL.md'), `---\nname: inner\ndescription: d\n---\n${body}`);
    const { loader } = await place.load({ ...options, approve: place.yes });

    const alone = await loader.skills.invoke('alone');

    expect(textOf(alone)).toMatch(/^\S*\/approved\/[0-9a-f]{64}\/a \$\{CLAUDE_PLUGIN_ROOT\}\/b \$\{HOME\}$/);
    expect(textOf(await loader.skills.invoke('inner'))).toBe(`${root}/skills/inner/a ${root}/b \${HOME}`);
  });

  test('does not run commands in its text', async () => {
    const place = makePlace();
    project(place, 'shell', ['', `Now: !\`touch ${place.root}/pwned\``]);
    const { loader } = await place.load({ ...options, approve: place.yes });

    expect(textOf(await loader.skills.invoke('shell'))).toBe(`Now: !\`touch ${place.root}/pwned\``);
  });

  test('that is for users only is not offered to the model, and a call of the model is refused', async () => {
    const place = makePlace();
    project(place, 'deploy', ['disable-model-invocation: true\n', 'Deploy it.']);
    project(place, 'other', ['disable-model-invocation: false\n']);
    const model = scriptedModel([calls('skill', { name: 'deploy' }), says('no')]);
    const { loader, agent } = await place.load({ ...options, approve: place.yes }, { model });

    const { messages } = await agent.run('deploy');

    expect(loader.skills.list().map(({ id, userOnly }) => `${id} ${userOnly}`)).toEqual(['deploy true', 'other false']);
    expect(model.requests[0]?.tools[0]?.description).not.toContain('deploy');
    expect(messages.find(({ role }) => role === 'tool')).toMatchObject({ content: [{ isError: true }] });
    expect(JSON.stringify(messages)).not.toContain('Deploy it.');
    expect(await loader.skills.invoke('deploy')).toEqual({ role: 'user', content: 'Deploy it.' });
  });

  test.each([
    ['Read, Grep, Bash(git add:*), Bash(npm run *)', ['Read', 'Grep', 'Bash(git add:*)', 'Bash(npm run *)']],
    ['Read Bash(git *) Write', ['Read', 'Bash(git *)', 'Write']],
    ['Bash(git', ['Bash(git']],
  ])('lists its allowed tools: %j', async (wishes, tools) => {
    const place = makePlace();
    project(place, 'wishing', [`allowed-tools: ${wishes}\n`]);
    const { loader } = await place.load({ ...options, approve: place.yes });

    expect(loader.skills.get('wishing').allowedTools).toEqual(tools);
  });
});

describe('names and descriptions of skills', () => {
  test.each(['a\u2028- evil', 'a\u202eb', 'a\u200bb', 'a\\u0007b', 'a'.repeat(257)])(
    'a name that imitates other text is refused: %j',
    async (name) => {
      const place = makePlace();
      project(place, 'x');
      write(join(place.workspaceDir, '.agents/skills/y/SKILL.md'), `---\nname: "${name}"\ndescription: d\n---\nDo it.`);
      const { loader } = await place.load({ ...options, approve: place.yes });

      expect(loader.status().skills).toEqual(['x']);
      expect(loader.status().diagnostics).toMatchObject([{ level: 'warning', problems: [{ path: 'name' }] }]);
    },
  );

  test('are never cut within a character', async () => {
    const place = makePlace();
    const text = (description: string) => `---\nname: x\ndescription: ${description}\n---\nDo it.`;
    write(join(place.workspaceDir, '.agents/skills/x/SKILL.md'), text(`${'a'.repeat(1_023)}🚢`));
    write(join(place.workspaceDir, '.agents/skills/y/SKILL.md'), text('"half \\ud83d one"').replace('x', 'y'));
    const { loader } = await place.load({ ...options, approve: place.yes });

    expect(loader.skills.list().map(({ description }) => description)).toEqual(['a'.repeat(1_023), 'half  one']);
  });

  test('metadata with the key __proto__ is dropped', async () => {
    const place = makePlace();
    project(place, 'x', ['metadata:\n  __proto__: evil\n  author: me\n']);
    const { loader } = await place.load({ ...options, approve: place.yes });

    expect(Object.entries(loader.skills.get('x').metadata ?? {})).toEqual([['author', 'me']]);
  });
});
