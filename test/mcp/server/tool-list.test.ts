import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { asProcesses, connected, lab, raw, temporaryFolder } from '../../support/mcp/lab.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

test('after a slow reading, the list of a server that changes its tools after each list is read less often', async () => {
  const log = join(temporaryFolder(), 'log');
  const clock = fakeClock();
  let looks = 0;
  // Each look at this clock takes a second, so each reading takes several.
  const slow = { ...clock, now: () => clock.now() + ++looks * 1_000 };
  const servers = { a: raw({ log, churn: true, large: { tools: 10, properties: 10 } }) };
  const { mcp } = await connected({ servers, system: { clock: slow } });
  const countLists = () => readFileSync(log, 'utf8').match(/"method":"tools\/list"/g)?.length ?? 0;
  const lastDelay = () => clock.delays.at(-1) ?? 0;
  // The time limit of a reading is a minute. The first pause only gathers changes.
  await until(() => lastDelay() === 100);
  clock.advance(100);
  await until(() => countLists() === 2 && lastDelay() !== 60_000);

  expect(lastDelay()).toBeGreaterThan(10_000);
  clock.advance(lastDelay());
  await until(() => countLists() === 3);
  expect(mcp.status()[0]).toMatchObject({ state: 'connected', toolCount: 10 });
});

test('a change after a quiet time takes effect soon', async () => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const clock = fakeClock();
  const servers = { a: raw({ tools: [tool('change')], next: [tool('later')] }) };
  const { mcp } = await connected({ servers, system: { clock } });
  await mcp.server('a').callTool('change', {});

  await until(() => {
    if (clock.pending() > 0) clock.advance(100);
    return mcp.tools.list()[0]?.metadata.mcpTool === 'later';
  });
  expect(mcp.tools.list()).toHaveLength(1);
});

test('a list that takes longer than `connectMs` to be read fails the connection', async () => {
  const log = join(temporaryFolder(), 'log');
  const clock = fakeClock();
  const { mcp } = lab({
    servers: { a: raw({ log, large: { tools: 20, properties: 5_000 } }) },
    timeouts: { connectMs: 1_000 },
    reconnect: false,
    system: { clock },
  });
  const connecting = mcp.connect();
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('"sent"'));
  clock.advance(1_000);
  await connecting;

  expect(mcp.status()[0]).toMatchObject({ state: 'unavailable', lastError: expect.stringContaining('connectMs') });
});

test('a run with many large tools does not hold the thread', { timeout: 60_000 }, async () => {
  const servers = { a: raw({ large: { tools: 6, properties: 5_000 } }) };
  const { mcp } = await connected({ servers, system: asProcesses });
  const model = () => scriptedModel([calls('mcp__a__t1', { p1: 'x' }), says('done')]);
  const run = async () => {
    await using agent = new Agent({ model: model(), tools: mcp.tools, logger: keepingLogger() });
    await agent.run('go');
  };

  expect(await longestHold(run)).toBeLessThan(100);
});
