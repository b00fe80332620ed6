import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, connected, isGone, raw, readLog, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const pidsIn = (log: string) => readLog(log).flatMap(({ pid }) => pid ?? []);

test('starts a new process, lists the tools again, and fails pending calls', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await connected({ servers: { a: raw({ log }) } });
  const [tool] = mcp.tools.list();
  const held = mcp
    .server('a')
    .callTool('hang')
    .catch((error: unknown) => error);
  const inAgent = call(mcp, 'mcp__a__hang');
  await expect.poll(() => readLog(log).filter(({ received }) => received?.method === 'tools/call').length).toBe(2);
  const restarted = mcp.server('a').restart();

  expect(await held).toMatchObject({ code: 'ERR_MCP_REQUEST', server: 'a' });
  expect(await inAgent).toMatchObject({ isError: true });
  await restarted;
  const [first, second, ...more] = pidsIn(log);
  expect(more).toEqual([]);
  expect(second).not.toBe(first);
  expect(isGone(first as number)).toBe(true);
  expect(stateOf(mcp, 'a')).toBe('connected');
  expect(mcp.tools.list().map(({ name }) => name)).toContain(tool?.name);
  expect(await tool?.execute({}, { signal: new AbortController().signal, progress: () => {} } as never)).toMatchObject({
    content: 'echo: {}',
  });
  expect(readLog(log).filter(({ received }) => received?.method === 'tools/list')).toHaveLength(2);
});

test('shares one restart between concurrent calls', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await connected({ servers: { a: raw({ log }) } });

  await Promise.all([mcp.server('a').restart(), mcp.server('a').restart(), mcp.server('a').reconnect()]);

  expect(pidsIn(log)).toHaveLength(2);
  expect(await mcp.server('a').callTool('echo')).toEqual({ content: 'echo: {}' });
});

test('rejects if the server does not start again, is disabled, or the loader is closed', async () => {
  const folder = temporaryFolder();
  const log = join(folder, 'log');
  const servers = { off: raw({}, { disabled: true }), bad: { command: 'nonexistent' }, good: raw({ log }) };
  const { mcp } = await connected({ servers });

  await expect(mcp.server('off').restart()).rejects.toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
  await expect(mcp.server('bad').restart()).rejects.toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
  const restarting = mcp
    .server('good')
    .restart()
    .catch((error: unknown) => error);
  await mcp.close();
  expect(await restarting).toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
  expect(stateOf(mcp, 'good')).toBe('closed');
  expect(pidsIn(log).every(isGone)).toBe(true);
  await expect(mcp.server('good').restart()).rejects.toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
});
