import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { call, connected, lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const elicit = () => ({ action: 'decline' as const });

describe('a server that repeatedly asks the user and gets an answer at once', () => {
  test('does not extend the time limit of a call', async () => {
    const clock = fakeClock();
    let asked = 0;
    const { mcp } = await connected({
      servers: { nags: raw({ tools: [tool('nag')] }) },
      timeouts: { callMs: 300, totalMs: 300 },
      elicit: () => {
        asked += 1;
        return elicit();
      },
      system: { clock },
    });
    const calling = call(mcp, 'nag');
    await until(() => asked > 2);
    clock.advance(300);

    const { content } = await calling;

    expect(content).toBe('The request tools/call to MCP server "nags" took longer than 300 ms.');
  });

  test('does not extend the time limit of the handshake', async () => {
    const clock = fakeClock();
    let asked = 0;
    const { mcp } = lab({
      servers: { nags: raw({ nag: true }) },
      timeouts: { connectMs: 500 },
      reconnect: false,
      elicit: () => {
        asked += 1;
        return elicit();
      },
      system: { clock },
    });
    const connecting = mcp.connect();
    await until(() => asked > 2);
    clock.advance(500);
    await connecting;

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
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { raw: raw() },
      timeouts: { totalMs: 200 },
      system: { clock },
      ...more,
    });
    const hanging = call(mcp, 'hang');
    clock.advance(200);

    expect(await hanging).toMatchObject({
      isError: true,
      content: expect.stringContaining('took longer than 200 ms'),
    });
  });

  test('ends a call at its total time limit, even if the call still reports progress', async () => {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { raw: raw({ log, tools: [tool('progress')] }) },
      timeouts: { callMs: 900, totalMs: 1_000 },
      system: { clock },
      ...more,
    });
    const seen: unknown[] = [];
    const progress = (data: unknown) => {
      if (seen.push(data) === 1) clock.advance(700);
    };
    const calling = call(mcp, { name: 'progress', progress }, { steps: 1_000, everyMs: 5 });
    await until(() => seen.length > 2);
    clock.advance(300);

    expect(await calling).toMatchObject({ content: expect.stringContaining('took longer than 1000 ms') });
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
