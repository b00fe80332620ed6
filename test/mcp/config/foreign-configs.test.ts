import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { readMcpConfig } from 'keelson/mcp';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { growth } from '../../support/growth.js';
import { connected, lab, raw, readLog, stateOf, temporaryFolder, variable } from '../../support/mcp/lab.js';

async function read(text: string) {
  const path = join(temporaryFolder(), 'mcp.json');
  writeFileSync(path, text);
  const entries = await readMcpConfig(path, { scope: 'builtin' });
  return entries.map((entry) => [
    entry.name,
    'definition' in entry ? (entry.definition.command ?? entry.definition.url) : entry.problem,
    [...entry.notes, ...(entry.ignored ?? []).map((field) => `no effect: ${field}`)],
  ]);
}

test.each<[string, object, readonly unknown[]]>([
  [
    'VS Code',
    {
      inputs: [{ id: 'key', type: 'promptString' }],
      servers: {
        a: { type: 'stdio', command: 'npx', args: [variable('input:key')], envFile: '.env' },
        b: { type: 'http', url: 'https://example.com/' },
      },
    },
    [
      [
        'a',
        'npx',
        [
          'the unknown field "envFile" is ignored',
          `"${variable('input:key')}" is not a supported variable and stays unchanged`,
        ],
      ],
      ['b', 'https://example.com/', []],
    ],
  ],
  [
    'Gemini CLI',
    {
      theme: 'dark',
      mcpServers: { a: { httpUrl: 'https://example.com/', trust: true, includeTools: ['x'], timeout: 5 } },
    },
    [
      [
        'a',
        'https://example.com/',
        ['`timeout` is in milliseconds, so requests end after 5 ms: write 5000 for seconds', 'no effect: trust'],
      ],
    ],
  ],
  [
    'Claude Desktop',
    { globalShortcut: '', mcpServers: { fs: { command: 'npx', args: ['-y', 'x', 'C:\\Users\\me'] } } },
    [['fs', 'npx', []]],
  ],
  [
    'Cursor and Cline',
    {
      mcpServers: { a: { command: 'npx', env: { K: variable('env:K') }, disabledTools: ['rm'], alwaysAllow: ['ls'] } },
    },
    [['a', 'npx', ['no effect: alwaysAllow']]],
  ],
  [
    'Windsurf',
    { mcpServers: { a: { serverUrl: 'https://example.com/mcp', headers: { A: 'b' }, disabledTools: [] } } },
    [['a', 'https://example.com/mcp', []]],
  ],
  [
    'two programs, with the same setting under two names',
    {
      a: { url: 'https://example.com/', serverUrl: 'https://example.org/' },
      b: { command: 'npx', includeTools: ['look', 'wipe'], tools: ['look'] },
      c: { url: 'https://example.com/', httpUrl: 'https://example.org/' },
      d: { httpUrl: 'https://example.com/', serverUrl: 'https://example.org/' },
    },
    [
      ['a', 'https://example.com/', ['the unknown field "serverUrl" is ignored']],
      ['b', 'npx', ['the unknown field "tools" is ignored']],
      ['c', 'https://example.com/', ['the unknown field "httpUrl" is ignored']],
      ['d', 'https://example.com/', ['the unknown field "serverUrl" is ignored']],
    ],
  ],
  ['Copilot', { mcpServers: { a: { type: 'local', command: 'node', args: [], tools: ['*'] } } }, [['a', 'node', []]]],
  [
    'programs that write null for an empty field',
    { mcpServers: { a: { command: 'npx', args: null, env: null, cwd: null, url: null, headers: null, note: null } } },
    [['a', 'npx', []]],
  ],
  [
    'FastMCP and LangChain',
    {
      a: { transport: 'streamable_http', url: 'https://example.com/' },
      b: { command: 'uvx', args: [], tools: { add: { name: 'plus' } } },
    },
    [
      ['a', 'https://example.com/', []],
      ['b', 'uvx', ['the unknown field "tools" is ignored']],
    ],
  ],
  [
    'Zed',
    {
      theme: 'One Dark',
      context_servers: { a: { source: 'custom', command: 'npx', args: ['-y', 'x'], env: {} }, b: { settings: {} } },
    },
    [
      ['a', 'npx', ['no effect: source']],
      ['b', 'it must have a `command` or a `url`', ['no effect: settings']],
    ],
  ],
  ['a server with the name `servers`', { servers: { command: 'npx', env: {} } }, [['servers', 'npx', []]]],
])('reads the configuration of %s, and notes each ignored field', async (_title, config, expected) => {
  expect(await read(JSON.stringify(config))).toEqual(expected);
});

/** Connects the servers of one file. Returns each server as `name: state`. */
async function statesOf(file: string, content: object, workspaceDir?: string) {
  const path = join(temporaryFolder(), file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
  const { mcp } = await connected({ configFiles: [path], workspaceDir });
  return mcp.status().map(({ name, state }) => `${name}: ${state}`);
}

test('reads the maps of servers of opencode and Cline, and a file without servers', async () => {
  const { command, args = [] } = raw();
  const local = { type: 'local', command: [command, ...args], environment: { A: 'b' }, enabled: true };

  expect(await statesOf('opencode.json', { $schema: 'x', mcp: { a: local } })).toEqual(['a: connected']);
  expect(await statesOf('opencode.json', { mcp: { servers: { a: local } } })).toEqual(['a: connected']);
  expect(await statesOf('cline.json', { mcpServers: { a: { transport: { type: 'stdio', command, args } } } })).toEqual([
    'a: connected',
  ]);
  expect(await statesOf('mcp.json', { mcpServers: null })).toEqual([]);
  expect(await statesOf('mcp.json', { $schema: 'x', _comment: 'none yet' })).toEqual([]);
});

test('reads null, quoted values and numbers as people write them', async () => {
  const { command, args = [] } = raw();
  const server = { type: 'STDIO', command, args: [...args, 8080] };
  const servers = {
    numbers: { ...server, env: { PORT: 3000 }, timeout: '5000' },
    nulls: { ...server, env: { UNSET: null }, cwd: null },
    off: { ...server, disabled: 'true' },
    on: { ...server, disabled: 'False' },
  };

  expect(await statesOf('.vscode/mcp.json', { servers })).toEqual([
    'numbers: connected',
    'nulls: connected',
    'off: disabled',
    'on: connected',
  ]);
  expect(await read('{"far":{"type":"remote","url":"https://example.com/"}}')).toEqual([
    ['far', 'https://example.com/', []],
  ]);
});

test('replaces the variables of editors by places on this machine', async () => {
  const [workspaceDir, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
  const { args = [], ...server } = raw({ log });
  const names = ['userHome', 'workspaceFolderBasename', 'pathSeparator'].map(variable);
  const servers = { a: { ...server, args: [...args, ...names] } };

  expect(await statesOf('mcp.json', { servers }, workspaceDir)).toEqual(['a: connected']);
  expect(readLog(log)[0]?.argv?.slice(-3)).toEqual([homedir(), basename(workspaceDir), sep]);
});

test('does not start the servers that the settings of Gemini CLI leave out', async () => {
  const mcpServers = { a: raw(), b: raw(), c: raw() };

  expect(await statesOf('settings.json', { mcpServers, mcp: { excluded: ['b'] } })).toEqual([
    'a: connected',
    'b: disabled',
    'c: connected',
  ]);
  expect(await statesOf('settings.json', { mcpServers, mcp: { allowed: ['c'] } })).toEqual([
    'a: disabled',
    'b: disabled',
    'c: connected',
  ]);
});

test.each([
  ['cline_mcp_settings.json', 60_000],
  ['.roo/mcp.json', 60_000],
  ['mcp.json', 60],
])('reads the time limit 60 of %s as %d ms', async (file, timeoutMs) => {
  const path = join(temporaryFolder(), file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ mcpServers: { a: { command: 'npx', timeout: 60 } } }));
  const [entry] = await readMcpConfig(path, { scope: 'builtin' });

  expect(entry).toMatchObject({ definition: { callTimeoutMs: timeoutMs } });
  expect(entry?.notes.length).toBe(timeoutMs < 1_000 ? 1 : 0);
});

test('gives the servers of `.mcp.json` the directory of the project', async () => {
  const [workspaceDir, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
  const { args = [], ...server } = raw({ log });
  const file = { mcpServers: { a: { ...server, args: [...args, variable('CLAUDE_PROJECT_DIR')] } } };
  writeFileSync(join(workspaceDir, '.mcp.json'), JSON.stringify(file));
  const gate = createTrustGate({ workspaceDir, stateDir: temporaryFolder(), approve: () => true });
  await connected({ workspaceDir, gate });
  const [started] = readLog(log);

  expect([started?.env?.CLAUDE_PROJECT_DIR, started?.argv?.at(-1)]).toEqual([workspaceDir, workspaceDir]);
});

test('includes and excludes tools by the fields of other programs', async () => {
  const tools = ['look', 'list', 'wipe'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const server = raw({ tools });
  const path = join(temporaryFolder(), 'mcp.json');
  const mcpServers = {
    windsurf: { ...server, disabledTools: ['wipe'] },
    both: { ...server, disabledTools: ['wipe'], excludeTools: ['look'] },
    copilot: { ...server, tools: ['l*', 'no'] },
    nothing: { ...server, tools: [] },
    wrong: { ...server, disabledTools: { wipe: true } },
  };
  writeFileSync(path, JSON.stringify({ mcpServers }));
  const { mcp } = await connected({ configFiles: [path] });

  expect(mcp.status().map((status) => [status.name, ...status.tools.map((name) => name.split('__')[2])])).toEqual([
    ['windsurf', 'look', 'list'],
    ['both', 'list'],
    ['copilot', 'look', 'list'],
    ['nothing'],
    ['wrong'],
  ]);
  expect(stateOf(mcp, 'wrong')).toBe('invalid');
});

test('does not start a server that is not enabled', async () => {
  const path = join(temporaryFolder(), 'mcp.json');
  const server = raw();
  const mcpServers = {
    on: { ...server, enabled: true },
    off: { ...server, enabled: false },
    both: { ...server, enabled: true, disabled: true },
  };
  writeFileSync(path, JSON.stringify({ mcpServers }));
  const { mcp } = await connected({ configFiles: [path] });

  expect(mcp.status().map(({ name, state }) => [name, state])).toEqual([
    ['on', 'connected'],
    ['off', 'disabled'],
    ['both', 'disabled'],
  ]);
});

test('expands `workspaceFolder` to the workspace directory, as editors do', async () => {
  const [workspaceDir, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
  const path = join(workspaceDir, 'mcp.json');
  const { args = [], ...server } = raw({ log });
  const here = variable('workspaceFolder');
  writeFileSync(path, JSON.stringify({ servers: { a: { ...server, args: [...args, `${here}/src`], cwd: here } } }));
  const { mcp } = await connected({ configFiles: [path], workspaceDir });
  const [started] = readLog(log);

  expect(mcp.status()).toMatchObject([{ state: 'connected', reads: ['workspaceFolder'] }]);
  expect([started?.cwd, started?.argv?.at(-1)]).toEqual([workspaceDir, `${workspaceDir}/src`]);
});

test('accepts comments and trailing commas, as editors do', async () => {
  const text = `\uFEFF// "servers"
{
  /* of "mine" */ "servers": { // here
    "a": { "command": "npx", "args": ["//no", "/* no */", "a,]", "\\"//", ], }, // last
  },
}
/* for ever`;
  const path = join(temporaryFolder(), 'mcp.json');
  writeFileSync(path, text);
  const [entry] = await readMcpConfig(path, { scope: 'builtin' });

  expect(entry).toMatchObject({ name: 'a', definition: { command: 'npx', args: ['//no', '/* no */', 'a,]', '"//'] } });
});

test.each(['/*', '"\\', ', ', '//', '"'])('refuses a file that repeats only %j in linear time', async (piece) => {
  const refuse = (size: number) => () =>
    expect(read(piece.repeat(size))).rejects.toMatchObject({ code: 'ERR_MCP_CONFIG' });

  expect(await growth(25_000, refuse)).toBeLessThan(100);
});

test('keeps the other servers if one has a type that is not a string', async () => {
  expect(await read('{"bad":{"type":{"toString":1,"valueOf":1},"command":"x"},"good":{"command":"x"}}')).toEqual([
    ['bad', '`type` must be "stdio", "http" or "sse", got {"toString":1,"valueOf":1}', []],
    ['good', 'x', []],
  ]);
});

test('expands variables in the command, cwd and PATH of a server of the host application', async () => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const server = raw({ log: join(folder, 'log') });
  writeFileSync(join(bin, 'serve'), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH, HERE: folder };
  const { mcp } = await connected({
    servers: {
      path: { ...server, command: 'serve', env: { PATH: `${variable('HERE')}/bin:${variable('PATH')}` } },
      whole: { ...server, command: `${variable('HERE')}/bin/serve`, cwd: variable('HERE') },
      lost: { ...server, command: `${variable('NOWHERE')}/serve` },
    },
    system: { env },
  });

  expect(mcp.status().map(({ state, reads }) => [state, reads])).toEqual([
    ['connected', ['HERE', 'PATH']],
    ['connected', ['HERE']],
    ['unavailable', ['NOWHERE']],
  ]);
  expect(mcp.status()[2]?.lastError).toContain('it needs variables that are not set: NOWHERE.');
  expect(readLog(join(folder, 'log')).flatMap(({ cwd }) => cwd ?? [])).toContain(folder);
});

test('reads no variable for the command of a server of the workspace', async () => {
  const workspaceDir = temporaryFolder();
  const config = { mcpServers: { evil: { command: `${variable('HERE')}/serve`, args: [] } } };
  writeFileSync(join(workspaceDir, '.mcp.json'), JSON.stringify(config));
  const { mcp } = lab({ workspaceDir, approve: () => true, system: { env: { HERE: '/usr/bin' } } });
  await mcp.connect();

  expect(mcp.status()[0]).toMatchObject({ name: 'evil', reads: [], toolCount: 0 });
  expect(mcp.status()[0]?.lastError).toContain(variable('HERE'));
});
