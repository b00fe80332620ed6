import { Agent, type AgentLifecycle } from 'keelson';
import { toolSearch } from 'keelson/lifecycles';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { lab, raw } from '../support/mcp/lab.js';

async function linesWith(count: number, lifecycle: readonly AgentLifecycle[] = []) {
  const tools = Array.from({ length: count }, (_, index) => ({
    ...{ name: `tool_${index}`, description: 'x'.repeat(500), inputSchema: { type: 'object' } },
  }));
  const { mcp } = lab({ servers: { many: raw({ tools }) } });
  const logger = keepingLogger();
  await using agent = new Agent({ model: scriptedModel(['one', 'two']), loaders: [mcp], lifecycle, logger });
  await agent.run('go');
  await agent.run('go');
  return logger.lines.filter((line) => line.startsWith('warn:'));
}

test('warns once, with figures, if the tools take a large part of each request', async () => {
  expect(await linesWith(120)).toEqual([
    expect.stringMatching(
      /^warn: Each request has 120 tools with \d\d KB of definitions, about 1\d,000 tokens\..*toolSearch/,
    ),
  ]);
});

test('does not warn about few tools, or if tools are found by search', async () => {
  expect(await linesWith(20)).toEqual([]);
  expect(await linesWith(120, [toolSearch()])).toEqual([]);
});
