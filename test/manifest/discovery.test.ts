import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { hooksOf, linesOf, makePlace, manifest, tracer } from '../support/manifest/place.js';
import { scratchFolder, write } from '../support/process/scratch.js';

const hook = (command: string, event = 'before_tool') => ({ name: 'h', event, command });

describe('discovery of extensions', () => {
  test('S0-5.1, S0-5.2: finds extensions of the user and of the workspace, each with its scope', async () => {
    const place = makePlace();
    place.user('mine', manifest('mine'));
    place.workspace('ours', manifest('ours'));

    const { loader } = await place.load();

    expect(loader.extensions().map(({ name, scope }) => [name, scope])).toEqual([
      ['mine', 'user'],
      ['ours', 'workspace'],
    ]);
  });

  test('S0-5.1, S0-5.2: finds extensions in ~/.<appName> and in a workspace inside the home directory', async () => {
    const home = scratchFolder();
    const workspaceDir = join(home, 'code', 'project');
    write(join(home, '.ollm/extensions/mine/manifest.json'), JSON.stringify(manifest('mine')));
    write(join(workspaceDir, '.ollm/extensions/ours/manifest.json'), JSON.stringify(manifest('ours')));
    const before = process.env.HOME;
    process.env.HOME = home;
    try {
      const loader = manifests({ appName: 'ollm', workspaceDir });
      const agent = new Agent({ model: scriptedModel([]), loaders: [loader] });
      await agent.ready();
      await agent.close();

      expect(loader.extensions().map(({ name, scope }) => [name, scope])).toEqual([
        ['mine', 'user'],
        ['ours', 'workspace'],
      ]);
    } finally {
      process.env.HOME = before;
    }
  });

  test('S0-5.3, S0-6.1: reads every field of the manifest', async () => {
    const place = makePlace();
    const root = place.user('full', {
      ...{ name: 'full', version: '1.2.3-beta.1', description: 'All fields.' },
      mcpServers: { db: { command: 'db', args: ['--port', '1'], env: { A: 'b' }, disabled: true } },
      hooks: { before_tool: [{ name: 'guard', command: './guard.sh', timeout: 100, matcher: 'rm' }] },
      settings: [
        { name: 'level', description: 'How much.', type: 'number', default: 3, enum: [1, 3], envVar: 'LEVEL' },
      ],
      skills: [
        {
          name: 'review',
          description: 'Reviews.',
          prompt: 'Review {{file}}.',
          parameters: { file: { required: true } },
        },
      ],
    });
    mkdirSync(join(place.userDir, 'extensions/no-manifest'));
    writeFileSync(join(place.userDir, 'extensions/file.txt'), 'x');

    const { loader } = await place.load();

    expect(loader.extensions()).toEqual([
      {
        ...{ name: 'full', version: '1.2.3-beta.1', description: 'All fields.', scope: 'user', format: 'native', root },
        source: join(root, 'manifest.json'),
        mcpServers: { db: { command: 'db', args: ['--port', '1'], env: { A: 'b' }, disabled: true } },
        hooks: [{ name: 'guard', command: './guard.sh', timeout: 100, matcher: 'rm', event: 'before_tool' }],
        settings: [
          { name: 'level', description: 'How much.', type: 'number', default: 3, enum: [1, 3], envVar: 'LEVEL' },
        ],
        skills: [
          {
            name: 'review',
            description: 'Reviews.',
            prompt: 'Review {{file}}.',
            parameters: [{ name: 'file', required: true }],
          },
        ],
        ...{ skillFolders: ['skills'], commandPaths: [], contextFiles: [], excludedTools: [] },
      },
    ]);
    expect(loader.status().diagnostics).toEqual([]);
  });

  test.each(['CON', 'nul.txt', 'a.', '-rf', 'toString'])('refuses an extension or skill named %j', async (name) => {
    const place = makePlace();
    place.user('named', manifest(name));
    place.user('skilled', manifest('skilled', { skills: [{ name, description: 'x', prompt: 'x' }] }));

    const { loader } = await place.load();

    expect(loader.extensions()).toEqual([]);
    expect(loader.status().diagnostics).toMatchObject([{ level: 'error' }, { level: 'error' }]);
  });

  test('S0-5.4: logs one error for an invalid manifest, and loads other extensions', async () => {
    const place = makePlace();
    place.user('bad', '{ "name": ');
    place.user('good', manifest('good'));

    const { loader } = await place.load();

    expect(loader.extensions().map(({ name }) => name)).toEqual(['good']);
    expect(loader.status().diagnostics).toMatchObject([{ level: 'error', extension: 'bad' }]);
    expect(place.logger.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  test('S0-5.5: registers and runs the hooks of the user before those of the workspace', async () => {
    const place = makePlace();
    const trace = join(place.root, 'trace');
    const ours = place.workspace('aaa', manifest('aaa', { hooks: [hook('./h.sh', 'before_agent')] }));
    const mine = place.user('zzz', manifest('zzz', { hooks: [hook('./h.sh', 'before_agent')] }));
    tracer(join(ours, 'h.sh'), trace, 'workspace');
    tracer(join(mine, 'h.sh'), trace, 'user');

    const { loader, agent } = await place.load({ approve: place.yes }, { model: scriptedModel(['done']) });
    await agent.run('go');

    expect(hooksOf(loader).map(({ extension }) => extension)).toEqual(['zzz', 'aaa']);
    expect(linesOf(trace)).toEqual(['user', 'workspace']);
  });
});

describe('invalid and hostile extensions', () => {
  const broken: Readonly<Record<string, string | Buffer>> = {
    'invalid JSON': '{ name: 1 }',
    'only whitespace': ' \n',
    '0 bytes': '',
    'UTF-16': Buffer.from(`\uFEFF${JSON.stringify(manifest('x'))}`, 'utf16le'),
    'not UTF-8': Buffer.from([0x7b, 0xff, 0x7d]),
    '100 MB': Buffer.alloc(100 * 1024 * 1024, 0x20),
    'deep nesting': `{"name":"x","more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    'an array': '[]',
    'a string': '"x"',
    null: 'null',
    'with a __proto__ key': '{"name":"x","version":"1.0.0","description":"x","__proto__":{"polluted":true}}',
    'with a duplicate key': '{"name":"x","version":"1.0.0","description":"x","hooks":[],"h\\u006foks":[]}',
  };

  test.each(Object.entries(broken))(
    'D1: a manifest that is %s causes one error, and other extensions load',
    async (_what, text) => {
      const place = makePlace();
      write(join(place.userDir, 'extensions/bad/manifest.json'), text);
      place.user('good', manifest('good'));

      const { loader } = await place.load();

      expect(loader.extensions().map(({ name }) => name)).toEqual(['good']);
      expect(loader.status().diagnostics).toMatchObject([{ level: 'error', extension: 'bad' }]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  test('D1: a manifest that is a pipe or a directory causes one error without blocking', async () => {
    const place = makePlace();
    mkdirSync(join(place.userDir, 'extensions/pipe'), { recursive: true });
    execFileSync('mkfifo', [join(place.userDir, 'extensions/pipe/manifest.json')]);
    mkdirSync(join(place.userDir, 'extensions/folder/manifest.json'), { recursive: true });
    place.user('good', manifest('good'));

    const { loader } = await place.load();

    expect(loader.extensions().map(({ name }) => name)).toEqual(['good']);
    expect(loader.status().diagnostics.map(({ extension }) => extension)).toEqual(['folder', 'pipe']);
  });

  test('D4: a hook with an unknown event is reported with the nearest event, and the other hooks load', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { hooks: [hook('true', 'befor_tool'), hook('true')] }));

    const { loader } = await place.load();

    expect(hooksOf(loader)).toEqual([{ extension: 'x', name: 'h', event: 'before_tool', command: 'true' }]);
    expect(loader.status().diagnostics).toMatchObject([
      {
        level: 'error',
        problems: [{ path: 'hooks[0]', message: expect.stringContaining('did you mean `before_tool`?') }],
      },
    ]);
  });

  test('D5: an unknown key is a warning, unless it describes the extension', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { hook: [], other: 1, author: 'me', license: 'MIT' }));

    const { loader } = await place.load();

    expect(loader.extensions()).toHaveLength(1);
    expect(loader.status().diagnostics).toMatchObject([
      {
        level: 'warning',
        problems: [
          { path: 'hook', message: 'the key is unknown; did you mean "hooks"?' },
          { path: 'other', message: 'the key is unknown, so it is ignored' },
        ],
      },
    ]);
  });

  test.each([
    ['workspace', 'same'],
    ['workspace', 'SAME'],
    ['user', 'Same'],
  ] as const)(
    'D7: an extension of the %s with the name of an earlier one, written as %s, is ignored',
    async (scope, name) => {
      const place = makePlace();
      place.user('a', manifest('same', { description: 'first' }));
      place[scope]('b', manifest(name, { description: 'second', hooks: [hook('true')] }));

      const { loader } = await place.load({ approve: place.yes });

      expect(loader.extensions().map(({ description }) => description)).toEqual(['first']);
      expect(hooksOf(loader)).toEqual([]);
      expect(place.asked).toEqual([]);
      expect(loader.status().diagnostics).toMatchObject([{ level: 'error', extension: name }]);
    },
  );

  test('D8: a link out of the extensions directory is ignored, except in the user’s directory with `followLinks`', async () => {
    const place = makePlace();
    const elsewhere = join(place.root, 'elsewhere');
    for (const name of ['mine', 'theirs'])
      write(join(elsewhere, name, 'manifest.json'), JSON.stringify(manifest(name)));
    for (const folder of [join(place.userDir, 'extensions'), join(place.workspaceDir, '.app/extensions')])
      mkdirSync(folder, { recursive: true });
    symlinkSync(join(elsewhere, 'mine'), join(place.userDir, 'extensions/mine'));
    symlinkSync(join(elsewhere, 'theirs'), join(place.workspaceDir, '.app/extensions/theirs'));

    const strict = await place.load();
    const lenient = await place.load({ followLinks: true });

    expect(strict.loader.extensions()).toEqual([]);
    expect(strict.loader.status().diagnostics).toHaveLength(2);
    expect(lenient.loader.extensions().map(({ name, scope }) => [name, scope])).toEqual([['mine', 'user']]);
  });

  test('a manifest that is a link out of its directory is refused, and a link to another extension does not load it twice', async () => {
    const place = makePlace();
    const outside = write(join(place.root, 'outside.json'), JSON.stringify(manifest('outside')));
    mkdirSync(join(place.workspaceDir, '.app/extensions/bad'), { recursive: true });
    symlinkSync(outside, join(place.workspaceDir, '.app/extensions/bad/manifest.json'));
    const good = place.workspace('good', manifest('good'));
    symlinkSync(good, join(place.workspaceDir, '.app/extensions/again'));
    symlinkSync(join(place.root, 'nowhere'), join(place.workspaceDir, '.app/extensions/broken'));

    const { loader } = await place.load();

    expect(loader.extensions().map(({ name }) => name)).toEqual(['good']);
    expect(loader.status().diagnostics).toMatchObject([
      { level: 'error', extension: 'bad', problems: [{ message: 'it leads out of the extension directory' }] },
    ]);
  });

  test('C12: an extension behind a link from the user’s directory into the workspace has the scope of the workspace', async () => {
    const place = makePlace();
    place.workspace('x', manifest('x', { hooks: [hook('true')] }));
    mkdirSync(join(place.userDir, 'extensions'), { recursive: true });
    symlinkSync(join(place.workspaceDir, '.app/extensions/x'), join(place.userDir, 'extensions/x'));

    const { loader } = await place.load({ followLinks: true });

    expect(loader.status().extensions).toMatchObject([{ name: 'x', scope: 'workspace', state: 'pending' }]);
  });

  test('an extension of the workspace behind a link in the user’s directory does not take the name of an extension of the user', async () => {
    const place = makePlace();
    const hooks = [{ name: 'guard', event: 'before_tool', command: 'true' }];
    place.user('db', manifest('db', { hooks }));
    const theirs = place.workspace('theirs', manifest('DB'));
    symlinkSync(theirs, join(place.userDir, 'extensions', 'a-link'));

    const { loader } = await place.load({ followLinks: true, approve: place.yes });

    expect(hooksOf(loader)).toMatchObject([{ extension: 'db', name: 'guard' }]);
    expect(
      loader
        .status()
        .diagnostics.map(({ message }) => message)
        .join(),
    ).toContain('Extension "DB"');
  });

  test.each(['../../etc', '/etc', 'a\0b', 'a/../../b', 'C:\\x', '..\\x'])(
    'D9: a skill directory outside of the extension is refused: %j',
    async (path) => {
      const place = makePlace();
      place.user('x', manifest('x', { skills: [path] }));

      const { loader } = await place.load();

      expect(loader.extensions()).toEqual([]);
      expect(loader.status().diagnostics).toMatchObject([{ level: 'error', problems: [{ path: 'skills[0]' }] }]);
    },
  );

  test('D9: a skill directory that a link leads out of the extension is left out', async () => {
    const place = makePlace();
    const root = place.user('x', manifest('x', { skills: ['more'] }));
    write(join(place.root, 'secret', 'plan', 'SKILL.md'), '---\ndescription: Secret.\n---\nSecret.');
    symlinkSync(join(place.root, 'secret'), join(root, 'more'));

    const { loader } = await place.load();

    expect(loader.skills.list()).toEqual([]);
    expect(loader.status().diagnostics).toMatchObject([
      { level: 'warning', problems: [{ message: '"more" must be a path inside the directory, and exist' }] },
    ]);
  });

  test('D10: an extensions directory that is missing, a file or unreadable yields no extensions', async () => {
    const missing = makePlace();
    expect((await missing.load()).loader.extensions()).toEqual([]);

    const file = makePlace();
    write(join(file.userDir, 'extensions'), 'x');
    expect((await file.load()).loader.extensions()).toEqual([]);

    const closed = makePlace();
    closed.user('x', manifest('x'));
    chmodSync(join(closed.userDir, 'extensions'), 0o000);
    const found = (await closed.load()).loader.extensions();
    chmodSync(join(closed.userDir, 'extensions'), 0o700);
    // The root user can read every file.
    expect(found).toHaveLength(process.getuid?.() === 0 ? 1 : 0);
  });

  test('D12: a change on disk has no effect before a reload, which needs a new approval', async () => {
    const place = makePlace();
    const root = place.workspace('x', manifest('x', { hooks: [hook('true')] }));
    const { loader } = await place.load({ approve: place.yes });
    place.workspace('x', manifest('x', { hooks: [hook('true'), { ...hook('true'), name: 'second' }] }));
    const before = hooksOf(loader).length;

    await loader.reload();
    const after = hooksOf(loader).map(({ name }) => name);
    rmSync(root, { recursive: true });
    await loader.reload();

    expect(before).toBe(1);
    expect(after).toEqual(['h', 'second']);
    const parts = place.asked.map((request) => request.parts.map(({ why, item }) => `${why} ${item.name}`));
    expect(parts).toEqual([['new h'], ['changed h', 'new second']]);
    expect(hooksOf(loader)).toEqual([]);
  });
});
