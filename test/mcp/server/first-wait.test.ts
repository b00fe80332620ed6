import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type AgentEventOf } from 'keelson';
import type { McpServersOptions } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { pause, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const silent = raw({ silent: true });

/** A server that answers the handshake after `release`. */
function heldServer() {
  const log = join(temporaryFolder(), 'log');
  // The server waits until its log has two starts.
  return { server: raw({ log, together: 2 }), release: () => appendFileSync(log, '{"pid":0}\n') };
}

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
    const clock = fakeClock();
    const { mcp, agent } = agentWith({ servers: { silent, good: raw() }, system: { clock } });
    await using _agent = agent;
    const ready = agent.ready();
    await until(() => stateOf(mcp, 'good') === 'connected' && clock.delays.includes(1_000));
    clock.advance(1_000);

    await ready;

    expect(await missingIn(agent)).toMatchObject([
      { servers: [{ name: 'silent', state: 'connecting', error: undefined }] },
    ]);
  });

  test('does not wait at all with `waitForServers: false`', async () => {
    const { server, release } = heldServer();
    const { mcp, agent } = agentWith({ servers: { good: server }, waitForServers: false });
    await using _agent = agent;

    await agent.ready();

    expect(stateOf(mcp, 'good')).toBe('connecting');
    release();
    await until(() => stateOf(mcp, 'good') === 'connected');
    expect(await missingIn(agent)).toEqual([]);
  });

  test.each([[true], [['late']]])('waits with `waitForServers: %j`', async (waitForServers) => {
    const clock = fakeClock();
    const { server, release } = heldServer();
    const { mcp, agent } = agentWith({ servers: { late: server }, waitForServers, system: { clock } });
    await using _agent = agent;
    let isReady = false;
    const ready = agent.ready().then(() => (isReady = true));
    await until(() => stateOf(mcp, 'late') === 'connecting');
    clock.advance(9_999);
    await pause(10);

    expect(isReady).toBe(false);
    release();
    await ready;
    expect(stateOf(mcp, 'late')).toBe('connected');
  });

  test('waits only for the servers that `waitForServers` names', async () => {
    const { server, release } = heldServer();
    const { mcp, agent } = agentWith({
      ...{ servers: { silent, late: server }, waitForServers: ['late'], timeouts: { readyMs: 1 } },
    });
    await using _agent = agent;
    const ready = agent.ready();
    await until(() => stateOf(mcp, 'late') === 'connecting');
    release();

    await ready;

    expect([stateOf(mcp, 'silent'), stateOf(mcp, 'late')]).toEqual(['connecting', 'connected']);
  });

  test('lets the tools of a late server join in the next turn', async () => {
    const pause = { name: 'pause', description: '', inputSchema: { type: 'object' as const } };
    const { server, release } = heldServer();
    const { mcp } = lab({ servers: { late: server }, waitForServers: false });
    const model = scriptedModel([calls('pause', {}), calls('mcp__late__echo', {}), says('done')]);
    const tool = {
      ...pause,
      check: (value: unknown) => ({ value }),
      execute: async () => {
        release();
        await until(() => stateOf(mcp, 'late') === 'connected');
        return 'paused';
      },
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
    const clock = fakeClock();
    const { mcp, agent } = agentWith({ workspaceDir, approve, timeouts: { readyMs: 500 }, system: { clock } });
    await using _agent = agent;
    let isReady = false;
    const ready = agent.ready().then(() => (isReady = true));
    await until(() => stateOf(mcp, 'own') === 'pending');
    clock.advance(600);
    await pause(10);

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
