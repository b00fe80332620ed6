import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { call, connected, raw, readLog, temporaryFolder } from '../../support/mcp/lab.js';

test("calls a tool without an agent, by the server's own name of the tool", async () => {
  const { mcp } = await connected({ servers: { a: raw() } });
  const server = mcp.server('a');

  expect(await server.callTool('echo', { text: 'hi' })).toEqual({ content: 'echo: {"text":"hi"}' });
  expect(await server.callTool('mcp__a__echo')).toEqual(
    await call(mcp, 'mcp__a__echo').then(({ content }) => ({ content })),
  );
});

test('refuses an unknown tool and unknown options', async () => {
  const { mcp } = await connected({ servers: { a: raw({}, { excludeTools: ['die'] }) } });
  const server = mcp.server('a');

  await expect(server.callTool('nope')).rejects.toMatchObject({
    code: 'ERR_MCP_REQUEST',
    message: 'MCP server "a" offers no tool "nope"; it offers: echo, hang',
  });
  await expect(server.callTool('die')).rejects.toMatchObject({ code: 'ERR_MCP_REQUEST' });
  await expect(server.callTool('echo', 'x' as never)).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    option: 'args',
  });
  await expect(server.callTool('echo', {}, { timeoutMs: 0 })).rejects.toMatchObject({ option: 'timeoutMs' });
  await expect(server.callTool('echo', {}, { timeout: 5 } as never)).rejects.toMatchObject({ option: 'timeout' });
});

test('checks the arguments with `strict` only, since the server checks them itself', async () => {
  const strict = await connected({ servers: { a: raw() }, checkArguments: 'strict' });
  const open = await connected({ servers: { a: raw() } });

  const refused = strict.mcp.server('a').callTool('echo', { text: 5 });
  await expect(refused).rejects.toMatchObject({ code: 'ERR_MCP_REQUEST', status: -32602 });
  expect(await open.mcp.server('a').callTool('echo', { text: 5 })).toEqual({ content: 'echo: {"text":5}' });
});

test('names the configured servers if a server is unknown', async () => {
  const { mcp } = await connected({ servers: { a: raw() } });

  expect(() => mcp.server('files')).toThrow(
    'MCP server "files" is not available: no server has this name; configured servers: a.',
  );
});

test('ends a call on an abort, and after its time limit', async () => {
  const clock = fakeClock();
  const { mcp } = await connected({ servers: { a: raw() }, system: { clock } });
  const server = mcp.server('a');
  const controller = new AbortController();
  const aborted = server.callTool('hang', {}, { signal: controller.signal });
  controller.abort(new RangeError('enough'));

  await expect(aborted).rejects.toThrow('enough');
  await expect(server.callTool('hang', {}, { signal: AbortSignal.abort(new RangeError('no')) })).rejects.toThrow('no');
  const late = server.callTool('hang', {}, { timeoutMs: 30 });
  clock.advance(30);
  await expect(late).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  expect(await server.callTool('echo')).toEqual({ content: 'echo: {}' });
});

test('accepts a time limit longer than that of the loader', async () => {
  const clock = fakeClock();
  const { mcp } = await connected({
    servers: { a: raw({ tools: [{ name: 'progress', inputSchema: { type: 'object' } }] }) },
    timeouts: { callMs: 20 },
    system: { clock },
  });
  const steps: unknown[] = [];
  const server = mcp.server('a');
  const onProgress = (step: unknown) => {
    steps.push(step);
    clock.advance(2_000);
  };
  const slow = { steps: 2, everyMs: 1 };

  await expect(server.callTool('progress', slow, { onProgress })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  expect(steps.splice(0)).toHaveLength(1);
  expect(await server.callTool('progress', slow, { timeoutMs: 5_000, onProgress })).toEqual({ content: '2 steps' });
  expect(steps).toMatchObject([{ progress: 1 }, { progress: 2 }]);
});

test('sends the name and version of the application to servers', async () => {
  const log = join(temporaryFolder(), 'log');
  await connected({ servers: { a: raw({ log }) }, clientInfo: { name: 'my-agent', version: '4.2.0' } });

  const hello = readLog(log).find(({ received }) => received?.method === 'initialize');
  expect(hello?.received?.params).toMatchObject({ clientInfo: { name: 'my-agent', version: '4.2.0' } });
  await expect(connected({ clientInfo: { name: 'x' } as never })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
});

test('logs the standard error of a running server line by line at debug, with long lines cut', async () => {
  const long = 'x'.repeat(100_000);
  const { logger } = await connected({ servers: { a: raw({ stderr: `first\n${long}\nlast \u001b[31mred\n` }) } });
  const lines = () => logger.lines.filter((line) => line.includes('standard error'));
  await expect.poll(() => lines().length).toBe(3);

  expect(lines()[0]).toBe('debug: MCP server "a": standard error: first');
  expect(lines()[1]?.length).toBeLessThan(1_000);
  expect(lines()[2]).not.toContain('\u001b');
});

test('calls and requests on one signal share one listener, and an abort ends all of them', async () => {
  const { mcp } = await connected({ servers: { a: raw() } });
  const server = mcp.server('a');
  const controller = new AbortController();
  const { signal } = controller;
  const many = (work: () => Promise<unknown>) => Array.from({ length: 20 }, work);

  const ended = many(() => server.callTool('echo', {}, { signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await Promise.all(ended);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);

  const hanging = many(() => server.callTool('hang', {}, { signal }));
  const reading = many(() => server.readResource('x:', { signal }).catch(() => signal.throwIfAborted()));
  expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
  controller.abort(new Error('enough'));
  for (const outcome of await Promise.allSettled(hanging)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
  }
  await Promise.allSettled(reading);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
