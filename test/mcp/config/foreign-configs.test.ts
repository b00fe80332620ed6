import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMcpConfig } from '../../../src/mcp/mcp.js';
import { connected, lab, raw, readLog, stateOf, temporaryFolder, variable } from '../../support/mcp/lab.js';

async function read(text: string) {
  const path = join(temporaryFolder(), 'mcp.json');
  writeFileSync(path, text);
  const entries = await readMcpConfig(path, { scope: 'builtin' });
  return entries.map((entry) => [
    entry.name,
    'definition' in entry ? (entry.definition.command ?? entry.definition.url) : entry.problem,
    entry.notes,
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
      ['a', 'npx', ['"envFile" is ignored', `"${variable('input:key')}" is no variable, and stays as it is`]],
      ['b', 'https://example.com/', []],
    ],
  ],
  [
    'Gemini CLI',
    {
      theme: 'dark',
      mcpServers: { a: { httpUrl: 'https://example.com/', trust: true, includeTools: ['x'], timeout: 5 } },
    },
    [['a', 'https://example.com/', ['"trust" is ignored']]],
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
    [['a', 'npx', ['"alwaysAllow" is ignored']]],
  ],
  [
    'Windsurf',
    { mcpServers: { a: { serverUrl: 'https://example.com/mcp', headers: { A: 'b' }, disabledTools: [] } } },
    [['a', 'https://example.com/mcp', []]],
  ],
  [
    'two programs in one, which say the same in two ways',
    {
      a: { url: 'https://example.com/', serverUrl: 'https://example.org/' },
      b: { command: 'npx', includeTools: ['look', 'wipe'], tools: ['look'] },
      c: { url: 'https://example.com/', httpUrl: 'https://example.org/' },
      d: { httpUrl: 'https://example.com/', serverUrl: 'https://example.org/' },
    },
    [
      ['a', 'https://example.com/', ['"serverUrl" is ignored']],
      ['b', 'npx', ['"tools" is ignored']],
      ['c', 'https://example.com/', ['"httpUrl" is ignored']],
      ['d', 'https://example.com/', ['"serverUrl" is ignored']],
    ],
  ],
  ['Copilot', { mcpServers: { a: { type: 'local', command: 'node', args: [], tools: ['*'] } } }, [['a', 'node', []]]],
  [
    'programs that write null where there is nothing',
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
      ['b', 'uvx', ['"tools" is ignored']],
    ],
  ],
  [
    'Zed',
    {
      theme: 'One Dark',
      context_servers: { a: { source: 'custom', command: 'npx', args: ['-y', 'x'], env: {} }, b: { settings: {} } },
    },
    [
      ['a', 'npx', ['"source" is ignored']],
      ['b', 'it needs a `command`, or a `url`', ['"settings" is ignored']],
    ],
  ],
  ['a server by the name of `servers`', { servers: { command: 'npx', env: {} } }, [['servers', 'npx', []]]],
])('the configuration of %s is read, and what of it is not honoured is said', async (_title, config, expected) => {
  expect(await read(JSON.stringify(config))).toEqual(expected);
});

test('tools are offered and left out as other programs say it', async () => {
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

test('a server that is not enabled is not started', async () => {
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

test('the folder that is worked in is known by the name that editors have for it', async () => {
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

test('comments, and commas at the end, are passed over as editors do it', async () => {
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

test.each(['/*', '"\\', ', ', '//', '"'])('a file of nothing but %j is refused, and soon', async (piece) => {
  const started = performance.now();

  await expect(read(piece.repeat(400_000))).rejects.toMatchObject({ code: 'ERR_MCP_CONFIG' });
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('a type that is not even a text voids no other server', async () => {
  expect(await read('{"bad":{"type":{"toString":1,"valueOf":1},"command":"x"},"good":{"command":"x"}}')).toEqual([
    ['bad', '{"toString":1,"valueOf":1} is no type: it is stdio, http or sse', []],
    ['good', 'x', []],
  ]);
});

test('variables stand in the program, its folder and its PATH too, where the host names it', async () => {
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
  expect(mcp.status()[2]?.lastError).toContain('it needs the variable NOWHERE, which is not set');
  expect(readLog(join(folder, 'log')).flatMap(({ cwd }) => cwd ?? [])).toContain(folder);
});

test('no variable is read for the program of a server of the workspace', async () => {
  const workspaceDir = temporaryFolder();
  const config = { mcpServers: { evil: { command: `${variable('HERE')}/serve`, args: [] } } };
  writeFileSync(join(workspaceDir, '.mcp.json'), JSON.stringify(config));
  const { mcp } = lab({ workspaceDir, approve: () => true, system: { env: { HERE: '/usr/bin' } } });
  await mcp.connect();

  expect(mcp.status()[0]).toMatchObject({ name: 'evil', reads: [], toolCount: 0 });
  expect(mcp.status()[0]?.lastError).toContain(variable('HERE'));
});
