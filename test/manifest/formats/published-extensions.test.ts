import { cpSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../../src/index.js';
import { calls, says, scriptedModel } from '../../../src/testing/testing.js';
import { createTrustGate } from '../../../src/trust/gate.js';
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

describe('a Gemini extension as it is published', () => {
  test('names variables without braces in what its servers get', async () => {
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
      ['local', ['FORGE_TOKEN', 'OTHER_TOKEN']],
    ]);
  });

  test('writes separators and its own folder as variables, wherever there is a path', async () => {
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

  test('with a context that cannot be read tells so, and gives the rest', async () => {
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

describe('a Claude Code plugin as it is published', () => {
  const cases = [
    {
      what: 'one skill by itself',
      contents: { 'SKILL.md': skill('alone'), 'examples/SKILL.md': skill('sample') },
      skills: ['alone:alone'],
    },
    {
      what: 'a folder of skills beside a SKILL.md',
      contents: { 'SKILL.md': skill('alone'), 'skills/a/SKILL.md': skill('a') },
      skills: ['alone:a'],
    },
    {
      what: 'its own folder as the one of skills',
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

  test('whose option has a default of another type has none', async () => {
    const place = makePlace();
    const userConfig = { port: { type: 'number', default: '80' }, dir: { type: 'directory', default: '/tmp' } };
    files(place, 'p', { '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0', userConfig } });

    const { loader } = await place.load(both);

    expect(loader.config).toEqual({ extensions: { p: { dir: '/tmp' } } });
    expect(loader.status().diagnostics).toMatchObject([{ problems: [{ path: 'userConfig.port.default' }] }]);
  });

  test('has its commands as skills, by the names of their files', async () => {
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
      ...['error commands/empty.md', 'error commands/loop.md', 'error commands/out.md', 'warning commands/taken.md'],
    ]);
  });

  test('of a workspace is looked at once for all of its skills', async () => {
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

  test('finds a folder for what it keeps, wherever it names it, and the one of a workspace finds its own', async () => {
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
    const model = scriptedModel([calls('mcp__tell__echo', { variable: 'KEPT' }), says('done')]);
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

  test('of a workspace has no folder made before it is approved', async () => {
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

  test('tells a path that leads out of it from one that is not there', async () => {
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

  test('tells of each part that is passed over, also where its manifest does not name it', async () => {
    const place = makePlace();
    files(place, 'p', {
      '.claude-plugin/plugin.json': { name: 'p', version: '1.0.0', author: { name: 'Ada' } },
      'workflows/review.md': 'Review.',
      'agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews.\n---\nYou review.',
      'README.md': '# p',
    });

    const { loader } = await place.load(both);

    expect(loader.status().diagnostics).toMatchObject([
      {
        level: 'warning',
        problems: [
          { path: 'agents', message: 'it is passed over' },
          { path: 'workflows', message: 'it is passed over' },
        ],
      },
    ]);
  });
});

test('a skill that asks for a setting is told that it has none, and the model sees no value', async () => {
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

describe('what another program writes in another way than it should', () => {
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
      'servers in a list',
      gemini({ mcpServers: [{}] }),
      'warning mcpServers: it is no map of servers, and is passed over',
    ],
    [
      'a server in a text',
      gemini({ mcpServers: { a: 'x' } }),
      'warning mcpServers.a: it is no server, and is left out',
    ],
    ['settings in a map', gemini({ settings: { A: {} } }), 'warning settings: it is no list, and is passed over'],
    ['a tool that is none', gemini({ excludeTools: [5] }), 'warning excludeTools: 5 is no name of a tool'],
    ['tools in a map', gemini({ excludeTools: { a: 1 } }), 'warning excludeTools: it is no list, and is passed over'],
    [
      'a number for a file',
      gemini({ contextFileName: 5 }),
      'warning contextFileName: it is no list, and is passed over',
    ],
    [
      'a setting twice',
      gemini({ settings: [{ name: 'A' }, { name: 'A' }] }),
      'warning settings[1]: it is left out: "A" is there already',
    ],
    ['hooks in a file that is missing', claude({ hooks: './gate.json' }), 'error hooks: "gate.json" is missing'],
    [
      'servers in a file that is missing',
      claude({ mcpServers: './m.json' }),
      'warning mcpServers: "m.json" is missing',
    ],
    ['skills in a folder that is missing', claude({ skills: ['./s'] }), 'warning skills: "s" is missing'],
    ['skills that are no path', claude({ skills: 5 }), 'warning skills: what is no path is passed over'],
    [
      'servers in a number',
      claude({ mcpServers: 5 }),
      'warning mcpServers: it is no map of servers, and is passed over',
    ],
    ['options in a list', claude({ userConfig: [] }), 'warning userConfig: it is no map of options'],
    ['a limit of an option', claude({ userConfig: { n: { max: 3 } } }), 'warning userConfig.n.max: it is passed over'],
    ['programs', claude({}, { 'bin/x': '' }), 'warning bin: it is passed over'],
    ['settings of its own', claude({}, { 'settings.json': {} }), 'warning settings.json: it is passed over'],
    [
      'hooks of one event twice',
      claude({}, { 'hooks/hooks.json': '{"hooks":{"Stop":[],"St\\u006fp":[]}}' }),
      'error hooks/hooks.json hooks.Stop: the key at line 1, column 21 is repeated in its object: only the last value is used',
    ],
    ['no name', told({ 'gemini-extension.json': { version: '1.0.0' } }), 'error name: it is missing'],
  ])('is told: %s', async (_what, run, line) => {
    expect((await run()).lines).toEqual([line]);
  });

  test('is taken where it can only mean one thing', async () => {
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
