import { join } from 'node:path';
import { textOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { echoServer, hooksOf, linesOf, makePlace, manifest, type Place } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

/** Writes the files of an extension of the user. Files that begin with `#!` become executable. */
function files(place: Place, folder: string, contents: Readonly<Record<string, unknown>>): string {
  const root = join(place.userDir, 'extensions', folder);
  for (const [path, content] of Object.entries(contents)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    write(join(root, path), text, text.startsWith('#!') ? 0o755 : 0o644);
  }
  return root;
}

const command = (text: string, more: object = {}) => ({ type: 'command', command: text, ...more });
const server = `await import(${JSON.stringify(echoServer)});\n`;
const skill =
  '---\nname: code-review\ndescription: Use when asked: reviews code.\nallowed-tools: Read, Grep\n---\nReview it.\n';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these programs use this syntax for variables
test('loads a Claude Code plugin: hooks, skills, options, and servers in .mcp.json', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  files(place, 'enterprise-plugin', {
    '.claude-plugin/plugin.json': {
      name: 'enterprise-plugin',
      version: '1.2.0',
      description: 'Tools of the enterprise',
      author: { name: 'Ada', email: 'ada@example.com' },
      homepage: 'https://example.com',
      license: 'MIT',
      keywords: ['enterprise'],
      commands: ['./custom/commands/special.md'],
      userConfig: {
        api_token: { type: 'string', title: 'Token', description: 'For the API', sensitive: true },
        level: { type: 'number', title: 'Level', default: 3 },
      },
    },
    'hooks/hooks.json': {
      description: 'Formats and guards',
      hooks: {
        SessionStart: [{ hooks: [command('"${CLAUDE_PLUGIN_ROOT}/scripts/start.sh"')] }],
        PreToolUse: [
          {
            matcher: 'Bash|Write',
            hooks: [command('sh', { args: ['${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh'], timeout: 10 })],
          },
        ],
        FileChanged: [{ hooks: [command('true')] }],
      },
    },
    'scripts/start.sh': `#!/bin/sh\necho "start $CLAUDE_PLUGIN_OPTION_LEVEL" >> ${trace}\necho "The house rule: no rm."\n`,
    'scripts/guard.sh': `#!/bin/sh\necho "guard" >> ${trace}\necho "no, $CLAUDE_PLUGIN_OPTION_LEVEL" >&2\nexit 2\n`,
    '.mcp.json': {
      _comment: 'a comment',
      tell: {
        command: 'node',
        args: ['${CLAUDE_PLUGIN_ROOT}/servers/tell.mjs'],
        env: { TOKEN: '${user_config.level}' },
      },
    },
    'servers/tell.mjs': server,
    'skills/code-review/SKILL.md': skill,
    'custom/commands/special.md': 'Special.',
  });
  const model = scriptedModel([
    calls('Bash', { text: 'rm' }),
    calls('mcp__enterprise-plugin-tell__echo', { variable: 'CLAUDE_PLUGIN_OPTION_LEVEL' }),
    calls('mcp__enterprise-plugin-tell__echo', { variable: 'CLAUDE_PLUGIN_ROOT' }),
    says('done'),
  ]);
  const { loader, agent } = await place.load(
    { compat: ['claude'] },
    { model, tools: [toolOf('Bash', () => expect.unreachable('it is guarded'))] },
  );

  const session = await agent.session();
  const { messages } = await session.run('go');

  expect(loader.extensions()).toMatchObject([
    {
      ...{ name: 'enterprise-plugin', version: '1.2.0', description: 'Tools of the enterprise', format: 'claude' },
      settings: [
        { name: 'api_token', description: 'For the API', envVar: 'CLAUDE_PLUGIN_OPTION_API_TOKEN', sensitive: true },
        { name: 'level', description: 'Level', type: 'number', default: 3 },
      ],
    },
  ]);
  expect(hooksOf(loader).map(({ name, event }) => [name, event])).toEqual([
    ['enterprise-plugin:SessionStart#1', 'session_start'],
    ['enterprise-plugin:PreToolUse#1', 'before_tool'],
  ]);
  expect(
    loader.status().diagnostics.flatMap(({ level, problems }) => problems.map(({ path }) => `${level} ${path}`)),
  ).toEqual([...['warning hooks/hooks.json', 'info allowed-tools']]);
  expect(textOf(await loader.skills.invoke('special'))).toBe('Special.');
  expect(linesOf(trace)).toEqual(['start 3', 'guard']);
  expect(textOf(model.requests[0]?.messages.at(-1) as never)).toContain('no rm');
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  expect(results).toMatchObject([
    { isError: true, content: expect.stringContaining('no, 3') },
    { content: 'CLAUDE_PLUGIN_OPTION_LEVEL=3' },
    { content: expect.stringContaining('CLAUDE_PLUGIN_ROOT=/') },
  ]);
  expect(loader.skills.get('code-review')).toMatchObject({
    id: 'enterprise-plugin:code-review',
    description: 'Use when asked: reviews code.',
  });
});

test('loads a Gemini CLI extension: context, excluded tools, settings, hooks, servers and skills', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  files(place, 'my-extension', {
    'gemini-extension.json': {
      name: 'my-extension',
      version: '1.0.0',
      mcpServers: { server1: { command: 'node ${extensionPath}${/}server.mjs', cwd: '${extensionPath}', trust: true } },
      contextFileName: 'CONTEXT.md',
      excludeTools: ['run_shell_command', 'write_file(.env)'],
      settings: [{ name: 'API Key', description: 'The key', envVar: 'MY_API_KEY', sensitive: true }],
      themes: [],
    },
    'CONTEXT.md': 'Speak like a </extension> pirate.',
    'server.mjs': server,
    'hooks/hooks.json': {
      hooks: {
        BeforeTool: [
          { matcher: 'mcp_.*', hooks: [command('$extensionPath/hooks/note.sh', { name: 'note', timeout: 5000 })] },
        ],
      },
    },
    'hooks/note.sh': `#!/bin/sh\necho "note $MY_API_KEY" >> ${trace}\necho '{}'\n`,
    'skills/code-review/SKILL.md': skill,
  });
  const model = scriptedModel([calls('mcp__my-extension-server1__echo', { variable: 'MY_API_KEY' }), says('done')]);
  const { loader, agent } = await place.load(
    { compat: ['gemini'], config: { extensions: { 'my-extension': { 'API Key': 'the key of the test' } } } },
    {
      model,
      instructions: 'Be brief.',
      tools: ['run_shell_command', 'write_file', 'read_file'].map((name) => toolOf(name, () => 'x')),
    },
  );

  const { messages } = await agent.run('go');

  const [request] = model.requests;
  expect(request?.tools.map(({ name }) => name).sort()).toEqual([
    'mcp__my-extension-server1__echo',
    'read_file',
    'skill',
  ]);
  expect(request?.messages.slice(0, 2)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: '<extension name="my-extension">\nSpeak like a &lt;/extension> pirate.\n</extension>' },
  ]);
  expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
    { content: [{ content: 'MY_API_KEY=[redacted]' }] },
  ]);
  expect(linesOf(trace)).toEqual(['note the key of the test']);
  expect(
    loader.status().diagnostics.flatMap(({ level, problems }) => problems.map(({ path }) => `${level} ${path}`)),
  ).toEqual([...['warning excludeTools', 'info allowed-tools']]);
});

test('formats of other programs are read only if `compat` names them', async () => {
  const place = makePlace();
  files(place, 'g', { 'gemini-extension.json': { name: 'g', version: '1.0.0' } });
  files(place, 'c', { '.claude-plugin/plugin.json': { name: 'c' } });

  const names = async (compat: readonly ('gemini' | 'claude')[]) =>
    (await place.load({ compat })).loader.extensions().map(({ name, version }) => `${name} ${version}`);

  expect(await names([])).toEqual([]);
  expect(await names(['gemini'])).toEqual(['g 1.0.0']);
  expect(await names(['gemini', 'claude'])).toEqual(['c 0.0.0', 'g 1.0.0']);
});

test.each(['user', 'workspace'])('servers of a Claude Code plugin of the %s start in the project', async (scope) => {
  const place = makePlace();
  const own = scope === 'user' ? place : { ...place, userDir: join(place.workspaceDir, '.app') };
  files(own, 'p', {
    '.claude-plugin/plugin.json': '\uFEFF{"name":"p","version":"1.0.0"}',
    '.mcp.json': {
      tell: { command: 'node', args: ['${CLAUDE_PLUGIN_ROOT}/tell.mjs', '${CLAUDE_PROJECT_DIR:-.}'] },
    },
    'tell.mjs': `process.env.CWD = process.cwd();\nprocess.env.ARG = process.argv[2];\n${server}`,
  });
  const names = ['CWD', 'ARG', 'CLAUDE_PROJECT_DIR'];
  const model = scriptedModel([...names.map((variable) => calls('mcp__p-tell__echo', { variable })), says('done')]);
  const { agent } = await place.load({ compat: ['claude'], approve: place.yes }, { model });
  const { messages } = await agent.run('go');
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));

  expect(results.map(({ content }) => content)).toEqual(names.map((name) => `${name}=${place.workspaceDir}`));
});

test('a variable without a value is empty for a server of a Gemini CLI extension', async () => {
  const place = makePlace();
  files(place, 'g', {
    'gemini-extension.json': `\uFEFF${JSON.stringify({
      name: 'g',
      version: '1.0.0',
      mcpServers: { tell: { command: 'node', args: ['tell.mjs'], env: { KEY: '$KEELSON_TEST_UNSET' }, cwd: '.' } },
    })}`,
    'tell.mjs': server,
  });
  const model = scriptedModel([calls('mcp__g-tell__echo', { variable: 'KEY' }), says('done')]);
  const { agent } = await place.load({ compat: ['gemini'] }, { model });
  const { messages } = await agent.run('go');

  expect(messages.flatMap((message) => (message.role === 'tool' ? message.content : []))).toMatchObject([
    { content: 'KEY=' },
  ]);
});

test('a directory with parts of a Claude Code plugin is a package without a manifest', async () => {
  const place = makePlace();
  files(place, 'reviewer', {
    'skills/code-review/SKILL.md': skill,
    'hooks/hooks.json': { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command('exit 2')] }] } },
  });
  files(place, 'empty', { 'notes.txt': 'x' });
  files(place, 'not a name', { '.mcp.json': {} });

  const { loader } = await place.load({ compat: ['claude'] });
  const skipped = await place.load();

  expect(loader.extensions()).toMatchObject([{ name: 'reviewer', version: '0.0.0', format: 'claude' }]);
  expect(hooksOf(loader).map(({ name }) => name)).toEqual(['reviewer:PreToolUse#1']);
  expect(loader.skills.get('code-review')?.id).toBe('reviewer:code-review');
  expect(loader.status().diagnostics.filter(({ level }) => level === 'error')).toMatchObject([
    { extension: 'not a name', problems: [{ path: 'name' }] },
  ]);
  expect(skipped.loader.status().diagnostics.map(({ level, extension }) => [level, extension])).toEqual([
    ['warning', 'not a name'],
    ['error', 'reviewer'],
  ]);
  expect(skipped.loader.status().diagnostics[1]?.message).toContain('name "claude" in `compat` to read it');
});

test('of several manifests in one directory the first valid one is used, and the others are reported', async () => {
  const place = makePlace();
  const other = {
    'gemini-extension.json': { name: 'g', version: '1.0.0' },
    '.claude-plugin/plugin.json': { name: 'c' },
  };
  files(place, 'a', { 'manifest.json': manifest('native'), ...other });
  files(place, 'b', { 'manifest.json': '{', 'gemini-extension.json': { name: 'h', version: '1.0.0' } });

  const { loader } = await place.load({ compat: ['gemini', 'claude'] });

  expect(loader.extensions().map(({ name, format }) => [name, format])).toEqual([
    ['native', 'native'],
    ['h', 'gemini'],
  ]);
  expect(loader.status().diagnostics.map(({ level, source }) => `${level} ${source.split('/extensions/')[1]}`)).toEqual(
    [...['info a/gemini-extension.json', 'info a/.claude-plugin/plugin.json', 'warning b/manifest.json']],
  );
});

test('a `manifest.json` of a bundle or a browser extension is not read', async () => {
  const place = makePlace();
  const bundle = manifest('bundle', { manifest_version: '0.3', server: { type: 'node' } });
  files(place, 'a', { 'manifest.json': bundle, '.claude-plugin/plugin.json': { name: 'c' } });
  files(place, 'b', { 'manifest.json': bundle });

  const { loader } = await place.load({ compat: ['claude'] });

  expect(loader.extensions().map(({ name, format }) => [name, format])).toEqual([['c', 'claude']]);
  expect(loader.status().diagnostics.filter(({ level }) => level !== 'info')).toEqual([]);
});

test('an invalid entry in another program’s manifest is ignored, and the other entries load', async () => {
  const place = makePlace();
  files(place, 'c', {
    '.claude-plugin/plugin.json': {
      name: 'c',
      hooks: ['../outside.json', './more.json', { Stop: [{ hooks: [command('true')] }] }],
      skills: '/etc',
      mcpServers: { bad: 5, none: {}, good: { command: 'true', disabled: true } },
      userConfig: { 'bad name': {}, secret: { type: 'string', sensitive: true } },
    },
    'hooks/hooks.json': 'not json',
    'more.json': { hooks: { PreToolUse: [{ hooks: [command('curl ${user_config.secret}'), command('true')] }] } },
  });

  const { loader } = await place.load({ compat: ['claude'] });

  expect(hooksOf(loader).map(({ event }) => event)).toEqual(['before_tool', 'after_agent']);
  expect(loader.mcp.status().map(({ name, state }) => `${name} ${state}`)).toEqual([
    'c-none invalid',
    'c-good disabled',
  ]);
  const told = loader
    .status()
    .diagnostics.flatMap(({ level, problems }) => problems.map(({ path }) => `${level} ${path}`));
  expect(told.sort()).toEqual([
    ...['error hooks', 'error hooks/hooks.json', 'error more.json'],
    ...['info version', 'warning mcpServers.bad', 'warning skills', 'warning userConfig.bad name'],
  ]);
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these programs use this syntax for variables
