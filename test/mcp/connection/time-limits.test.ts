import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until, within } from '../../support/agent/settle.js';
import { call, connected, lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const elicit = () => ({ action: 'decline' as const });

describe('a server that repeatedly asks the user and gets an answer at once', () => {
  test('does not extend the time limit of a call', async () => {
    const { mcp } = await connected({
      servers: { nags: raw({ tools: [tool('nag')] }) },
      timeouts: { callMs: 300, totalMs: 300 },
      elicit,
    });

    const { content } = (await within(call(mcp, 'nag'), 3_000)) as { content: string };

    expect(content).toBe('The request tools/call to MCP server "nags" took longer than 300 ms.');
  });

  test('does not extend the time limit of the handshake', async () => {
    const { mcp } = lab({
      servers: { nags: raw({ nag: true }) },
      timeouts: { connectMs: 500 },
      reconnect: false,
      elicit,
    });

    await within(mcp.connect(), 3_000);

    expect(mcp.status()[0]).toMatchObject({
      state: 'unavailable',
      lastError:
        'The connection to MCP server "nags" took longer than 500 ms. Raise `timeouts.connectMs` if the server needs more time.',
    });
  });
});

describe.each([
  ['without `elicit`', {}],
  ['with `elicit`', { elicit }],
])('the total time limit of a call, %s,', (_title, more) => {
  test('applies the total time limit if it is shorter than the limit without progress', async () => {
    const { mcp } = await connected({ servers: { raw: raw() }, timeouts: { totalMs: 200 }, ...more });

    expect(await within(call(mcp, 'hang'), 3_000)).toMatchObject({
      isError: true,
      content: expect.stringContaining('took longer than 200 ms'),
    });
  });

  test('ends a call at its total time limit, even if the call still reports progress', async () => {
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

  test('leaves no listener on the signal of the caller, and a later abort has no effect', async () => {
    const log = join(temporaryFolder(), 'log');
    const { mcp } = await connected({ servers: { raw: raw({ log }) }, ...more });
    const controller = new AbortController();
    for (let count = 0; count < 12; count++) await call(mcp, { name: 'echo', signal: controller.signal });

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
    expect(readFileSync(log, 'utf8')).not.toContain('notifications/cancelled');
    expect(stateOf(mcp, 'raw')).toBe('connected');
  });
});
