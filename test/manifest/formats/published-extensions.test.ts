import { cpSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { echoServer, makePlace, type Place } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

/** Writes the files of an extension of the user. */
function files(place: Place, folder: string, contents: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(contents)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    write(join(place.userDir, 'extensions', folder, path), text);
  }
}

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo ${name}.\n`;
const both = { compat: ['gemini', 'claude'] } as const;

describe('a published Gemini CLI extension', () => {
  test('may use variables without braces in its servers', async () => {
    const place = makePlace();
    const headers = { Authorization: 'Bearer $FORGE_TOKEN', Cost: '5$' };
    files(place, 'forge', {
      'gemini-extension.json': {
        name: 'forge',
        version: '1.0.0',
        mcpServers: {
          forge: { httpUrl: 'https://mcp.example.com/', headers, disabled: true },
          local: { command: 'true', env: { TOKEN: '$' + '{FORGE_TOKEN}', OTHER: '$OTHER_TOKEN' }, disabled: true },
        },
      },
    });

    const { loader } = await place.load(both);

    expect(loader.extensions()[0]?.mcpServers).toMatchObject({
      forge: { headers: { Authorization: 'Bearer $' + '{FORGE_TOKEN}', Cost: '5$' } },
      local: { env: { TOKEN: '$' + '{FORGE_TOKEN}', OTHER: '$' + '{OTHER_TOKEN}' } },
    });
    expect(loader.mcp.status().map(({ name, reads }) => [name, reads])).toEqual([
      ['forge', ['FORGE_TOKEN']],
      ['forge-local', ['FORGE_TOKEN', 'OTHER_TOKEN']],
    ]);
  });

  test('may use variables for path separators and its own directory in every path', async () => {
    const place = makePlace();
    files(place, 'office', {
      'gemini-extension.json': {
        name: 'office',
        version: '1.0.0',
        contextFileName: ['office-server$' + '{/}CONTEXT.md', '$' + '{extensionPath}$' + '{/}MORE.md'],
        mcpServers: { office: { command: 'node', args: ['run$' + '{/}start.js'], cwd: '$' + '{extensionPath}' } },
      },
      'office-server/CONTEXT.md': 'Be brief.',
      'MORE.md': 'Be kind.',
    });

    const { loader } = await place.load({ ...both, autoEnable: false });

    expect(loader.extensions()).toMatchObject([
      {
        contextFiles: ['office-server/CONTEXT.md', './MORE.md'],
        mcpServers: { office: { args: ['run/start.js'], cwd: '.' } },
      },
    ]);
    expect(loader.status().diagnostics).toEqual([]);
  });

  test('with an unreadable context file causes a warning, and its other context files are used', async () => {
    const place = makePlace();
    files(place, 'long', {
      'gemini-extension.json': { name: 'long', version: '1.0.0', contextFileName: ['LONG.md', 'SHORT.md', 'NONE.md'] },
      'LONG.md': 'x'.repeat(300_000),
      'SHORT.md': 'Be brief.',
    });
    const model = scriptedModel(['done']);
    const { loader, agent } = await place.load(both, { model });

    await agent.run('go');

    expect(textOf(model.requests[0]?.messages[0] ?? { role: 'user', content: '' })).toBe(
      '<extension name="long">\nBe brief.\n</extension>',
    );
    expect(loader.status().diagnostics).toMatchObject([
      { level: 'warning', source: expect.stringMatching(/extensions\/long\/LONG\.md$/) },
    ]);
  });
});

describe('a published Claude Code plugin', () => {
  const cases = [
    {
      what: 'a single skill in its own directory',
      contents: { 'SKILL.md': skill('alone'), 'examples/SKILL.md': skill('sample') },
      skills: ['alone:alone'],
    },
    {
      what: 'a skills directory next to a SKILL.md',
      contents: { 'SKILL.md': skill('alone'), 'skills/a/SKILL.md': skill('a') },
      skills: ['alone:a'],
    },
    {
      what: 'its own directory as the skills path',
      contents: { 'SKILL.md': skill('alone') },
      manifest: { skills: './' },
      skills: ['alone:alone'],
    },
    {
      what: 'single skills by path',
      contents: { 's/a/SKILL.md': skill('a'), 's/b/SKILL.md': skill('b') },
      manifest: { skills: ['./s/b'] },
      skills: ['alone:b'],
    },
  ];

  test.each(cases)('may have $what', async ({ contents, manifest = {}, skills }) => {
    const place = makePlace();
    const plugin = { name: 'alone', version: '1.0.0', ...manifest };
    files(place, 'alone', { '.claude-plugin/plugin.json': plugin, ...contents });

    const { loader } = await place.load(both);

    expect(loader.status().skills).toEqual(skills);
    expect(loader.status().diagnostics).toEqual([]);
  });

  test('ignores the default of an option if its type is wrong', async () => {
    const place = makePlace();
    const userConfig = { port: { type: 'number', default: '80' }, dir: { type: 'directory', default: '/tmp' } };
    files(place, 'p', { '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0', userConfig } });

    const { loader } = await place.load(both);

    expect(loader.config).toEqual({ extensions: { p: { dir: '/tmp' } } });
    expect(loader.status().diagnostics).toMatchObject([{ problems: [{ path: 'userConfig.port.default' }] }]);
  });

  test('provides its commands as skills, named after their files', async () => {
    const place = makePlace();
    const root = join(place.userDir, 'extensions/p');
    files(place, 'p', {
      '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0', commands: ['./more.md', './none'] },
      'commands/review.md':
        '---\nname: other\ndescription: Reviews.\n---\nReview $ARGUMENTS by $' + '{CLAUDE_PLUGIN_ROOT}.',
      'commands/git/commit.md': '# Commits it\n\nCommit.',
      'commands/lined.md': '----\nLined.',
      'commands/deploy.md': '---\ndescription: Deploys.\ndisable-model-invocation: true\n---\nDeploy.',
      'commands/notes.txt': 'None.',
      'commands/empty.md': '',
      'commands/taken.md': 'Mine.',
      'skills/taken/SKILL.md': skill('taken'),
      'more.md': 'More.',
    });
    symlinkSync('.', join(root, 'commands/loop.md'));
    symlinkSync(join(place.root, 'elsewhere.md'), join(root, 'commands/out.md'));
    const { loader } = await place.load(both);

    expect(loader.skills.list().map(({ id, description, userOnly }) => [id, description, userOnly])).toEqual([
      ['p:taken', 'Does taken.', false],
      ['p:deploy', 'Deploys.', true],
      ['p:git-commit', 'Commits it', false],
      ['p:lined', 'Lined.', false],
      ['p:review', 'Reviews.', false],
      ['p:more', 'More.', false],
    ]);
    expect(textOf(await loader.skills.invoke('review', { arguments: '#4' }))).toBe(`Review #4 by ${root}.`);
    const told = loader.status().diagnostics.map(({ level, source }) => `${level} ${source.slice(root.length + 1)}`);
    expect(told).toEqual([
      'warning .claude-plugin/plugin.json',
      ...['warning commands/empty.md', 'warning commands/out.md', 'info commands/taken.md'],
    ]);
  });

  test('of a workspace needs one approval for all of its skills', async () => {
    const { workspaceDir, userDir, yes, load } = makePlace();
    const root = join(workspaceDir, '.app/extensions/q');
    write(join(root, '.claude-plugin/plugin.json'), '{"name":"q","version":"1.0.0"}');
    for (const at of [1, 2, 3]) write(join(root, `commands/${at}.md`), 'Do it.');
    const gate = createTrustGate({ workspaceDir, appName: 'app', stateDir: userDir, approve: yes });
    const judged: string[] = [];
    const authorize: typeof gate.authorize = (item) => {
      judged.push(item.kind);
      return gate.authorize(item);
    };
    const { loader } = await load({ ...both, gate: { ...gate, authorize, verify: (it) => gate.verify(it) } });

    expect(loader.status().skills).toEqual(['q:1', 'q:2', 'q:3']);
    expect(judged).toEqual(['skill']);
  });

  test('gets a data directory in every place that names it, separate for each workspace', async () => {
    const place = makePlace();
    const data = '$' + '{CLAUDE_PLUGIN_DATA}';
    const contents = {
      '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0' },
      '.mcp.json': { tell: { command: 'node', args: [echoServer], env: { KEPT: `${data}/kept` } } },
      'hooks/hooks.json': {
        hooks: {
          SessionStart: [
            { hooks: [{ type: 'command', command: `echo shell > "${data}/shell"` }] },
            { hooks: [{ type: 'command', command: 'touch', args: [`${data}/exec`] }] },
          ],
        },
      },
      'skills/a/SKILL.md': `${skill('a')}See ${data}.`,
    };
    files(place, 'p', contents);
    const theirs = join(place.workspaceDir, '.app/extensions/q');
    cpSync(join(place.userDir, 'extensions/p'), theirs, { recursive: true });
    writeFileSync(join(theirs, '.claude-plugin/plugin.json'), '{"name":"q","version":"1.0.0"}');
    const model = scriptedModel([calls('mcp__p-tell__echo', { variable: 'KEPT' }), says('done')]);
    const { loader, agent } = await place.load({ ...both, approve: place.yes }, { model });
    const mine = join(place.userDir, 'extension-data/user/p');

    const { messages } = await (await agent.session()).run('go');

    expect(readdirSync(mine)).toEqual(['exec', 'shell']);
    expect(messages.find(({ role }) => role === 'tool')).toMatchObject({ content: [{ content: `KEPT=${mine}/kept` }] });
    expect(textOf(await loader.skills.invoke('p:a'))).toContain(`See ${mine}.`);
    const ours = /See (\S+)\./.exec(textOf(await loader.skills.invoke('q:a')))?.[1] ?? '';
    expect(ours).toMatch(/\.app\/extension-data\/[0-9a-f]{32}\/q$/);
    expect(readdirSync(ours)).toEqual(['exec', 'shell']);
  });

  test('of a workspace gets no data directory before it is approved', async () => {
    const place = makePlace();
    const root = join(place.workspaceDir, '.app/extensions/q');
    write(join(root, '.claude-plugin/plugin.json'), '{"name":"q","version":"1.0.0"}');
    write(join(root, 'skills/a/SKILL.md'), skill('a'));
    const servers = join(place.workspaceDir, '.app/extensions/r');
    write(join(servers, '.claude-plugin/plugin.json'), '{"name":"r","version":"1.0.0"}');
    write(join(servers, '.mcp.json'), '{"m":{"command":"true"}}');

    await place.load(both);

    expect(existsSync(join(place.userDir, 'extension-data'))).toBe(false);
  });

  test('causes different problems for a path that leads out of it and for a missing path', async () => {
    const place = makePlace();
    const manifest = { name: 'p', version: '1.0.0', skills: ['./out', './none'] };
    files(place, 'p', { '.claude-plugin/plugin.json': manifest });
    symlinkSync(place.root, join(place.userDir, 'extensions/p/out'));

    const { loader } = await place.load(both);

    expect(loader.status().diagnostics).toMatchObject([
      {
        problems: [
          { message: '"out" must be a path inside the directory, and exist' },
          { message: '"none" is missing' },
        ],
      },
    ]);
  });

  test('causes a warning for each ignored part, even if its manifest does not name the part', async () => {
    const place = makePlace();
    files(place, 'p', {
      '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0', author: { name: 'Ada' } },
      'workflows/review.md': 'Review.',
      'output-styles/short.md': 'Be short.',
      'README.md': '# p',
    });

    const { loader } = await place.load(both);

    expect(loader.status().diagnostics).toMatchObject([
      {
        level: 'warning',
        problems: [
          { path: 'workflows', message: 'it is not supported, so it is ignored' },
          { path: 'output-styles', message: 'it is not supported, so it is ignored' },
        ],
      },
    ]);
  });

  test('with agents, which most plugins have, is loaded without a warning', async () => {
    const place = makePlace();
    const agent = '---\nname: reviewer\ndescription: Reviews.\n---\nYou review.';
    files(place, 'a', { '.claude-plugin/plugin.json': { name: 'a', version: '1.0.0' }, 'agents/reviewer.md': agent });
    files(place, 'b', {
      '.claude-plugin/plugin.json': { name: 'b', version: '1.0.0', agents: './custom' },
      'custom/reviewer.md': agent,
    });
    files(place, 'c', { 'gemini-extension.json': { name: 'c', version: '1.0.0' }, 'agents/reviewer.md': agent });

    const { loader } = await place.load(both);

    const noted = { level: 'info', problems: [{ path: 'agents', message: 'it is not supported, so it is ignored' }] };
    expect(loader.status().diagnostics).toMatchObject([noted, noted, noted]);
  });
});

test('a reference to a setting in a skill is reported and not replaced', async () => {
  const place = makePlace();
  const texts = ['$' + '{MY_KEY}', '$' + '{user_config.token}'];
  const settings = [{ name: 'Key', envVar: 'MY_KEY' }];
  const userConfig = { token: { type: 'string', description: 'd', default: 'secret-123' } };
  files(place, 'g', { 'gemini-extension.json': { name: 'g', version: '1.0.0', settings } });
  files(place, 'c', { '.claude-plugin/plugin.json': { name: 'c', version: '1.0.0', userConfig } });
  for (const folder of ['g', 'c'])
    files(place, folder, { 'skills/a/SKILL.md': `${skill('a')}Use ${texts.join(' ')}.` });
  const { loader } = await place.load({ ...both, env: { MY_KEY: 'secret-123' } });

  for (const id of ['g:a', 'c:a'])
    expect(textOf(await loader.skills.invoke(id))).toBe(`Do a.\nUse ${texts.join(' ')}.`);
  expect(loader.status().diagnostics.flatMap(({ problems }) => problems.map(({ message }) => message))).toEqual(
    [texts[1], texts[0]].map((text) => `${text} is not replaced: settings are never shown to the model`),
  );
});

describe('a mistake in another program’s manifest', () => {
  const told = (contents: Readonly<Record<string, unknown>>) => async () => {
    const place = makePlace();
    files(place, 'x', contents);
    const { loader } = await place.load(both);
    const lines = loader
      .status()
      .diagnostics.flatMap(({ level, problems }) => problems.map((one) => `${level} ${one.path}: ${one.message}`));
    return { lines, extension: loader.extensions()[0] };
  };
  const gemini = (more: object) => told({ 'gemini-extension.json': { name: 'x', version: '1.0.0', ...more } });
  const claude = (more: object, others: object = {}) =>
    told({ '.claude-plugin/plugin.json': { name: 'x', version: '1.0.0', ...more }, ...others });

  test.each([
    [
      'an array as servers',
      gemini({ mcpServers: [{}] }),
      'warning mcpServers: it must be an object of servers, so it is ignored',
    ],
    [
      'a server as a string',
      gemini({ mcpServers: { a: 'x' } }),
      'warning mcpServers.a: a server must be an object, so it is ignored',
    ],
    [
      'an object as settings',
      gemini({ settings: { A: {} } }),
      'warning settings: it must be an array, so it is ignored',
    ],
    [
      'an invalid tool name',
      gemini({ excludeTools: [5] }),
      'warning excludeTools: each tool name must be a string, got 5',
    ],
    [
      'an object as excluded tools',
      gemini({ excludeTools: { a: 1 } }),
      'warning excludeTools: it must be an array, so it is ignored',
    ],
    [
      'a number for a file',
      gemini({ contextFileName: 5 }),
      'warning contextFileName: it must be an array, so it is ignored',
    ],
    [
      'a duplicate setting name',
      gemini({ settings: [{ name: 'A' }, { name: 'A' }] }),
      'warning settings[1]: it is ignored: the name "A" is already used by an earlier setting',
    ],
    ['a missing hook file', claude({ hooks: './gate.json' }), 'error hooks: "gate.json" is missing'],
    [
      'servers in a file that is missing',
      claude({ mcpServers: './m.json' }),
      'warning mcpServers: "m.json" is missing',
    ],
    ['a missing skill directory', claude({ skills: ['./s'] }), 'warning skills: "s" is missing'],
    [
      'a number as skills',
      claude({ skills: 5 }),
      'warning skills: each path must be a string; other values are ignored',
    ],
    [
      'servers in a number',
      claude({ mcpServers: 5 }),
      'warning mcpServers: it must be an object of servers, so it is ignored',
    ],
    [
      'an array as options',
      claude({ userConfig: [] }),
      'warning userConfig: it must be an object of options, so it is ignored',
    ],
    [
      'an unsupported key of an option',
      claude({ userConfig: { n: { max: 3 } } }),
      'warning userConfig.n.max: it is not supported, so it is ignored',
    ],
    [
      'policies, which guard tools',
      told({ 'gemini-extension.json': { name: 'x', version: '1.0.0' }, 'policies/a.toml': '' }),
      'error policies: it is not supported, so it is ignored',
    ],
    ['programs', claude({}, { 'bin/x': '' }), 'warning bin: it is not supported, so it is ignored'],
    [
      'a settings.json',
      claude({}, { 'settings.json': {} }),
      'warning settings.json: it is not supported, so it is ignored',
    ],
    [
      'hooks of one event twice',
      claude({}, { 'hooks/hooks.json': '{"hooks":{"Stop":[],"St\\u006fp":[]}}' }),
      'error hooks/hooks.json hooks.Stop: the key at line 1, column 21 is repeated in its object: only the last value is used',
    ],
    ['no name', told({ 'gemini-extension.json': { version: '1.0.0' } }), 'error name: it is missing'],
    [
      'a long name',
      told({ 'gemini-extension.json': { name: 'a'.repeat(71), version: '1.0.0' } }),
      'error name: it must have at most 64 characters, got 71: shorten it',
    ],
  ])('is reported: %s', async (_what, run, line) => {
    expect((await run()).lines).toEqual([line]);
  });

  test('is accepted without a warning if its meaning is clear', async () => {
    const remarks = {
      _comment: 'ours',
      $schema: 'https://example.com',
      '//': 'x',
      a: { command: 'true', disabled: true },
    };
    const { lines, extension } = await gemini({ excludeTools: 'run', contextFileName: '', mcpServers: remarks })();

    expect(lines).toEqual([]);
    expect(extension).toMatchObject({ excludedTools: ['run'], contextFiles: ['GEMINI.md'] });
    expect(Object.keys(extension?.mcpServers ?? {})).toEqual(['a']);
  });
});
