import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { connected, raw, temporaryFolder } from '../../support/mcp/lab.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a server that changes its tools after each list is read ever less often', { timeout: 60_000 }, async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await connected({
    servers: { a: raw({ log, churn: true, large: { tools: 10, properties: 5_000 } }) },
  });
  const countLists = () => readFileSync(log, 'utf8').match(/"tools\/list"/g)?.length ?? 0;
  await sleep(3_000);

  expect(countLists()).toBeGreaterThan(1);
  expect(countLists()).toBeLessThan(8);
  expect(mcp.status()[0]).toMatchObject({ state: 'connected', toolCount: 10 });
});

test('a change after a quiet time takes effect soon', async () => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const { mcp } = await connected({ servers: { a: raw({ tools: [tool('change')], next: [tool('later')] }) } });
  await mcp.server('a').callTool('change', {});
  await sleep(500);

  expect(mcp.tools.list().map(({ metadata }) => metadata.mcpTool)).toEqual(['later']);
});

test('a list that takes longer than `connectMs` to be read fails the connection', { timeout: 60_000 }, async () => {
  const { mcp } = await connected({
    servers: { a: raw({ large: { tools: 60, properties: 5_000 } }) },
    timeouts: { connectMs: 1_000 },
    reconnect: false,
  });

  expect(mcp.status()[0]).toMatchObject({ state: 'unavailable', lastError: expect.stringContaining('connectMs') });
});

test('a run with many large tools does not hold the thread', { timeout: 60_000 }, async () => {
  const { mcp } = await connected({ servers: { a: raw({ large: { tools: 40, properties: 5_000 } }) } });
  const model = () => scriptedModel([calls('mcp__a__t1', { p1: 'x' }), says('done')]);
  const run = async () => {
    await using agent = new Agent({ model: model(), tools: mcp.tools, logger: keepingLogger() });
    await agent.run('go');
  };

  expect(await longestHold(run)).toBeLessThan(100);
});
