import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until, within } from '../../support/agent/settle.js';
import { call, connected, lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const elicit = () => ({ action: 'decline' as const });

describe('a server that asks the user again and again, and gets an answer at once,', () => {
  test('has no more time for a call', async () => {
    const { mcp } = await connected({
      servers: { nags: raw({ tools: [tool('nag')] }) },
      timeouts: { callMs: 300, totalMs: 300 },
      elicit,
    });

    const { content } = (await within(call(mcp, 'nag'), 3_000)) as { content: string };

    expect(content).toBe('The request tools/call to MCP server "nags" took longer than 300 ms.');
  });

  test('has no more time for the handshake', async () => {
    const { mcp } = lab({ servers: { nags: raw({ nag: true }) }, timeouts: { connectMs: 500 }, elicit });

    await within(mcp.connect(), 3_000);

    expect(mcp.status()[0]).toMatchObject({
      state: 'unavailable',
      lastError: 'The connection to MCP server "nags" took longer than 500 ms.',
    });
  });
});

describe.each([
  ['where nobody can be asked', {}],
  ['where somebody can be asked', { elicit }],
])('the whole time of a call, %s,', (_title, more) => {
  test('counts also where it is the shorter one', async () => {
    const { mcp } = await connected({ servers: { raw: raw() }, timeouts: { totalMs: 200 }, ...more });

    expect(await within(call(mcp, 'hang'), 3_000)).toMatchObject({
      isError: true,
      content: expect.stringContaining('took longer than 200 ms'),
    });
  });

  test('is up to the millisecond, not a whole wait after the last sign of progress', async () => {
    const log = join(temporaryFolder(), 'log');
    const { mcp } = await connected({
      servers: { raw: raw({ log, tools: [tool('progress')] }) },
      timeouts: { callMs: 900, totalMs: 1_000 },
      ...more,
    });
    const start = performance.now();

    expect(await call(mcp, 'progress', { steps: 2, everyMs: 700 })).toMatchObject({
      content: expect.stringContaining('took longer than 1000 ms'),
    });
    expect(performance.now() - start).toBeLessThan(1_500);
    await until(() => readFileSync(log, 'utf8').includes('notifications/cancelled'));
  });

  test('leaves nothing on the signal of the caller, and an abort afterwards cancels nothing', async () => {
    const log = join(temporaryFolder(), 'log');
    const { mcp } = await connected({ servers: { raw: raw({ log }) }, ...more });
    const controller = new AbortController();
    for (let at = 0; at < 12; at++) await call(mcp, { name: 'echo', signal: controller.signal });

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
    expect(readFileSync(log, 'utf8')).not.toContain('notifications/cancelled');
    expect(stateOf(mcp, 'raw')).toBe('connected');
  });
});
