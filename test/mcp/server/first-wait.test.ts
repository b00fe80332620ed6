import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type AgentEventOf } from 'keelson';
import type { McpServersOptions } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const silent = raw({ silent: true });

/** Creates an agent whose loader has the default of `waitForServers`. */
function agentWith(options: McpServersOptions, model = scriptedModel(['done', 'done'])) {
  const { mcp } = lab({ waitForServers: undefined, ...options });
  const agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });
  return { mcp, agent };
}

/** Starts a run and returns the `server-error` events. */
async function missingIn(agent: Agent): Promise<readonly AgentEventOf<'server-error'>[]> {
  const found: AgentEventOf<'server-error'>[] = [];
  for await (const event of agent.stream('go')) if (event.type === 'server-error') found.push(event);
  return found;
}

describe('the first run of an agent with MCP servers', () => {
  test('starts without a server that hangs, and an event names the server', async () => {
    const { agent } = agentWith({ servers: { silent, good: raw() } });
    await using _agent = agent;
    const started = performance.now();

    await agent.ready();

    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await missingIn(agent)).toMatchObject([
      { servers: [{ name: 'silent', state: 'connecting', error: undefined }] },
    ]);
  });

  test('does not wait at all with `waitForServers: false`', async () => {
    const { mcp, agent } = agentWith({ servers: { good: raw({ lateMs: 300 }) }, waitForServers: false });
    await using _agent = agent;

    await agent.ready();

    expect(stateOf(mcp, 'good')).toBe('connecting');
    await until(() => stateOf(mcp, 'good') === 'connected');
    expect(await missingIn(agent)).toEqual([]);
  });

  test.each([[true], [['late']]])('waits with `waitForServers: %j`', async (waitForServers) => {
    const servers = { late: raw({ lateMs: 1_300 }) };
    const { mcp, agent } = agentWith({ servers, waitForServers, timeouts: { readyMs: 1 } });
    await using _agent = agent;

    await agent.ready();

    expect(stateOf(mcp, 'late')).toBe('connected');
  });

  test('waits only for the servers that `waitForServers` names', async () => {
    const { mcp, agent } = agentWith({
      ...{ servers: { silent, late: raw({ lateMs: 400 }) }, waitForServers: ['late'], timeouts: { readyMs: 1 } },
    });
    await using _agent = agent;

    await agent.ready();

    expect([stateOf(mcp, 'silent'), stateOf(mcp, 'late')]).toEqual(['connecting', 'connected']);
  });

  test('lets the tools of a late server join in the next turn', async () => {
    const pause = { name: 'pause', description: '', inputSchema: { type: 'object' as const } };
    const { mcp } = lab({ servers: { late: raw({ lateMs: 200 }) }, waitForServers: false });
    const model = scriptedModel([calls('pause', {}), calls('mcp__late__echo', {}), says('done')]);
    const tool = {
      ...pause,
      check: (value: unknown) => ({ value }),
      execute: () => until(() => stateOf(mcp, 'late') === 'connected').then(() => 'paused'),
    };
    await using agent = new Agent({ model, loaders: [mcp], tools: [tool], logger: keepingLogger() });

    await agent.run('go');

    const offered = model.requests.map(({ tools }) => tools.some(({ name }) => name === 'mcp__late__echo'));
    expect(offered).toEqual([false, true, true]);
  });

  test('waits for a person who is asked about a server, without a time limit', async () => {
    const workspaceDir = temporaryFolder();
    const log = join(workspaceDir, 'log');
    mkdirSync(join(workspaceDir, 'sub'));
    writeFileSync(join(workspaceDir, '.mcp.json'), JSON.stringify({ mcpServers: { own: raw({ log }) } }));
    let answer: (value: boolean) => void = () => {};
    const approve = () => new Promise<boolean>((resolve) => (answer = resolve));
    const { mcp, agent } = agentWith({ workspaceDir, approve, timeouts: { readyMs: 500 } });
    await using _agent = agent;
    let isReady = false;
    const ready = agent.ready().then(() => (isReady = true));
    await until(() => stateOf(mcp, 'own') === 'pending');
    await new Promise((resolve) => setTimeout(resolve, 600));

    expect([isReady, existsSync(log)]).toEqual([false, false]);
    answer(true);
    await ready;
  });
});

test.each([['files'], [[1]], [0], [null]])('refuses `waitForServers: %j`', (waitForServers) => {
  expect(() => lab({ waitForServers: waitForServers as never })).toThrow(
    '`waitForServers` must be a boolean or an array of server names',
  );
});
