import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { mcpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { everythingOverHttp, realServer } from '../support/mcp/everything.js';
import { call, connected, raw, temporaryFolder } from '../support/mcp/lab.js';

const search = { name: 'search', inputSchema: { type: 'object' } };

describe('several servers', () => {
  test('S0-11.1: connects several servers in parallel, and calls them in parallel', async () => {
    // No server answers before all three have started.
    const log = join(temporaryFolder(), 'log');
    const server = (says: string) => raw({ says, log, together: 3 });
    const { mcp } = await connected({ servers: { a: server('a'), b: server('b'), c: server('c') } });

    const results = await Promise.all(['a', 'b', 'c', 'a'].map((name) => call(mcp, `mcp__${name}__echo`)));

    expect(results.map(({ content }) => content)).toEqual(['a: {}', 'b: {}', 'c: {}', 'a: {}']);
  });

  test.each([[{ a: 50, b: 0 }], [{ a: 0, b: 50 }]])(
    'S0-11.2: S0-11.3: gives tools of the same name different full names, whichever server connects first: %j',
    async (lateMs) => {
      const server = (name: 'a' | 'b') => raw({ says: name, tools: [search], lateMs: lateMs[name] });
      const { mcp } = await connected({ servers: { a: server('a'), b: server('b') } });

      expect(mcp.tools.list().map(({ name }) => name)).toEqual(['mcp__a__search', 'mcp__b__search']);
      expect(await call(mcp, 'mcp__a__search')).toMatchObject({ content: 'a: {}' });
      expect(await call(mcp, 'mcp__b__search')).toMatchObject({ content: 'b: {}' });
      expect(mcp.tools.find('search')).toBe(undefined);
    },
  );

  test('S0-11.4: keeps servers working if another server crashes', async () => {
    const { mcp } = await connected({ servers: { a: raw(), b: raw({ says: 'b' }) }, reconnect: false });
    const held = call(mcp, 'mcp__b__echo');

    expect(await call(mcp, 'mcp__a__die')).toMatchObject({ isError: true });

    expect(await held).toMatchObject({ content: 'b: {}' });
    expect(await call(mcp, 'mcp__b__echo')).toMatchObject({ content: 'b: {}' });
    expect(mcp.tools.find('echo')?.name).toBe('mcp__b__echo');
  });

  test('S0-11.5: lists servers with their current states and tools', async () => {
    const servers = { good: raw(), failed: { command: 'nonexistent' }, lost: raw(), off: raw({}, { disabled: true }) };
    const { mcp } = await connected({ servers, reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } });
    const brief = () => mcp.status().map(({ name, state, toolCount }) => ({ name, state, toolCount }));
    expect(brief()).toEqual([
      { name: 'good', state: 'connected', toolCount: 3 },
      { name: 'failed', state: 'unavailable', toolCount: 0 },
      { name: 'lost', state: 'connected', toolCount: 3 },
      { name: 'off', state: 'disabled', toolCount: 0 },
    ]);

    await call(mcp, 'mcp__lost__die');

    expect(brief()[2]).toEqual({ name: 'lost', state: 'reconnecting', toolCount: 0 });
    await mcp.close();
    expect(brief().map(({ state }) => state)).toEqual(['closed', 'closed', 'closed', 'closed']);
  });
});

test('one run uses tools of several real servers over all three transports', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'shared'));
  writeFileSync(join(folder, 'shared', 'note.txt'), 'The tide turns at six.');
  await using sse = await everythingOverHttp('sse');
  await using http = await everythingOverHttp('streamableHttp');
  const memory = { ...realServer('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } };
  const mcp = mcpServers({
    waitForServers: true,
    servers: {
      ...{ memory, files: realServer('filesystem', join(folder, 'shared')) },
      ...{ overSse: { type: 'sse', url: sse.url }, overHttp: { url: http.url } },
    },
  });
  const entities = [{ name: 'tide', entityType: 'fact', observations: ['turns at six'] }];
  const model = scriptedModel([
    calls('mcp__files__read_text_file', { path: join(folder, 'shared', 'note.txt') }),
    says('', {
      calls: [
        { name: 'mcp__memory__create_entities', input: { entities } },
        { name: 'mcp__overSse__get-sum', input: { a: 2, b: 3 } },
        { name: 'mcp__overHttp__echo', input: { message: 'b' } },
      ],
    }),
    says('done'),
  ]);
  await using agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });

  const result = await agent.run('What does the note say?');

  const results = result.messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  expect(results.map(({ isError }) => isError ?? false)).toEqual([false, false, false, false]);
  expect(results.map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringContaining('The tide turns at six.'),
    expect.stringContaining('turns at six'),
    '"The sum of 2 and 3 is 5."',
    '"Echo: b"',
  ]);
  expect(agent.status().tools.find(({ name }) => name === 'mcp__files__read_text_file')?.origin).toBe('mcp:files');
}, 20_000);

test('an invalid server of `servers` is logged once to the logger of the agent', async () => {
  const logger = keepingLogger();
  const mcp = mcpServers({ servers: { bad: { command: {} } as never, old: { ...raw(), nope: 1 } as never } });
  await using agent = new Agent({ model: scriptedModel(['done']), loaders: [mcp], logger });

  expect(mcp.status()).toMatchObject([{ name: 'bad', state: 'invalid' }, { name: 'old' }]);
  await agent.run('go');
  await mcp.connect();

  expect(logger.lines.filter((line) => line.includes('its configuration cannot be used'))).toHaveLength(1);
});

test('a server that declares no tools is connected, and the log says so', async () => {
  const { mcp, logger } = await connected({ servers: { a: raw({ capabilities: { resources: {} } }) } });

  expect(mcp.status()).toMatchObject([{ state: 'connected', toolCount: 0 }]);
  expect(logger.lines).toContain('info: MCP server "a": it declares no tools, so its tools are not listed');
});
