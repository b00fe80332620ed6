import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMcpConfig } from '../../src/mcp/mcp.js';
import { connected, lab, raw, readLog, temporaryFolder, variable } from './support/lab.js';

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
    [['a', 'npx', ['"disabledTools" is ignored', '"alwaysAllow" is ignored']]],
  ],
  ['a server by the name of `servers`', { servers: { command: 'npx', env: {} } }, [['servers', 'npx', []]]],
])('the configuration of %s is read, and what of it is not honoured is said', async (_title, config, expected) => {
  expect(await read(JSON.stringify(config))).toEqual(expected);
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
