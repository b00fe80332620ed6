import { Agent, type AgentLifecycle, type AgentOptions, defineTool, type RunResult } from 'keelson';
import { approval, toolSearch } from 'keelson/lifecycles';
import type { McpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { lab, raw } from '../support/mcp/lab.js';

const object = { type: 'object' } as const;
const tool = (name: string) => ({ name, inputSchema: object });
const server = (says: string, ...names: string[]) => raw({ says, tools: names.map(tool) });

function agentOf(mcp: McpServers, options: Partial<AgentOptions> = {}) {
  return new Agent({ model: scriptedModel([says('done')]), loaders: [mcp], logger: keepingLogger(), ...options });
}

function resultsOf({ messages }: RunResult) {
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return results.map(({ name, content }) => [name, content]);
}

/** Options of a run in which a person approves the call. */
const approve = ({ history, pending: [call] }: RunResult) => ({
  messages: history,
  resume: { [call?.id ?? '']: 'approve' as const },
});

/** Runs an agent until a person has to decide on a call of `drop`, and closes the agent. */
async function suspended(options: Partial<AgentOptions>): Promise<RunResult> {
  const { mcp } = lab({ servers: { db: server('db', 'drop') } });
  await using agent = agentOf(mcp, { model: scriptedModel([calls('drop', { table: 'logs' })]), ...options });
  return await agent.run('go');
}

describe('an approval of a call by the short name of a tool', () => {
  const lifecycle = [approval({ tools: ['mcp__db__drop'] })];
  test.each([
    ['the full name', approval({ tools: ['mcp__db__drop'] })],
    ['a condition', approval({ when: ({ name }) => name === 'mcp__db__drop' })],
    ['every call', approval()],
  ])('shows the full name, and covers the call: asked by %s', async (_, asking) => {
    const run = await suspended({ lifecycle: [asking] });
    expect(run.pending).toMatchObject([{ name: 'mcp__db__drop', input: { table: 'logs' } }]);

    const { mcp } = lab({ servers: { db: server('db', 'drop') } });
    await using agent = agentOf(mcp, { lifecycle: [asking] });
    const resumed = await agent.run('', approve(run));

    expect(resumed.status).toBe('completed');
    expect(resultsOf(resumed)).toEqual([['mcp__db__drop', 'db: {"table":"logs"}']]);
  });

  test('never runs a tool of the application that has the short name', async () => {
    const run = await suspended({ lifecycle });
    const own = defineTool({ name: 'drop', description: '', input: object, execute: () => 'the own one' });
    const { mcp } = lab({ servers: { db: server('db', 'drop') } });
    await using agent = agentOf(mcp, { lifecycle, tools: [own] });

    expect(resultsOf(await agent.run('', approve(run)))).toEqual([['mcp__db__drop', 'db: {"table":"logs"}']]);
  });

  test('never runs the tool of another server that has the short name', async () => {
    const run = await suspended({ lifecycle });
    const { mcp } = lab({ servers: { prod: server('prod', 'drop') } });
    const shared = [approval({ tools: ['mcp__db__drop'], optional: true })];
    await using agent = agentOf(mcp, { lifecycle: shared });

    expect(resultsOf(await agent.run('', approve(run)))).toEqual([
      ['mcp__db__drop', expect.stringContaining('There is no tool "mcp__db__drop"')],
    ]);
  });

  test('covers each call of one response, in a session', async () => {
    const { mcp } = lab({ servers: { db: server('db', 'drop', 'list') } });
    const model = scriptedModel([
      calls({ name: 'drop', input: {} }, { name: 'mcp__db__list', input: {} }),
      says('done'),
    ]);
    await using agent = agentOf(mcp, { model, lifecycle: [approval()] });
    const session = await agent.session({ id: 's' });

    const { pending } = await session.run('go');
    expect(pending.map(({ name }) => name)).toEqual(['mcp__db__drop', 'mcp__db__list']);
    const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
    expect(resultsOf(await session.run('', { resume }))).toEqual([
      ['mcp__db__drop', 'db: {}'],
      ['mcp__db__list', 'db: {}'],
    ]);
  });
});

describe('an approval of arguments that are converted', () => {
  const properties = { path: { type: 'string' }, dryRun: { type: 'boolean' } };
  const wipe = { name: 'wipe', inputSchema: { ...object, properties, additionalProperties: false } };
  const sent = { path: '/', dry_run: true };

  test('shows the arguments that run', async () => {
    const { mcp } = lab({ servers: { fs: raw({ tools: [wipe] }) } });
    const model = scriptedModel([calls('mcp__fs__wipe', { ...sent, dryRun: 'true' }), says('done')]);
    await using agent = agentOf(mcp, { model, lifecycle: [approval()] });

    const run = await agent.run('go');
    expect(run.pending).toMatchObject([{ input: { path: '/', dryRun: true } }]);
    const resumed = await agent.run('', approve(run));

    expect(resultsOf(resumed)).toEqual([['mcp__fs__wipe', 'echo: {"path":"/","dryRun":true}']]);
    expect(resumed.decisions).toMatchObject([{ type: 'approve', by: 'resume' }]);
  });

  test('shows them to `ask`, also if a hook has changed the call', async () => {
    const { mcp } = lab({ servers: { fs: raw({ tools: [wipe] }) } });
    const model = scriptedModel([calls('mcp__fs__wipe', { path: '/' }), says('done')]);
    const hook: AgentLifecycle = { name: 'hook', wrapToolCall: (call, next) => next({ ...call, input: sent }) };
    const asked: unknown[] = [];
    const asking = approval({
      ask({ input }) {
        asked.push(input);
        return 'approve';
      },
    });
    await using agent = agentOf(mcp, { model, lifecycle: [hook, asking] });

    expect(resultsOf(await agent.run('go'))).toEqual([['mcp__fs__wipe', 'echo: {"path":"/"}']]);
    expect(asked).toEqual([{ path: '/' }]);
  });

  test('ends with an error if the schema has changed, and nothing else runs', async () => {
    const open = lab({ servers: { fs: raw({ tools: [tool('wipe')] }) } }).mcp;
    const model = scriptedModel([calls('mcp__fs__wipe', sent)]);
    await using before = agentOf(open, { model, lifecycle: [approval()] });
    const run = await before.run('go');
    const { mcp } = lab({ servers: { fs: raw({ tools: [wipe] }) } });
    await using after = agentOf(mcp, { lifecycle: [approval()] });

    expect(resultsOf(await after.run('', approve(run)))).toEqual([
      ['mcp__fs__wipe', expect.stringContaining('dry_run')],
    ]);
  });
});

test('the model sees the full name of its call, and the change is a decision', async () => {
  const { mcp } = lab({ servers: { db: server('db', 'drop') } });
  const model = scriptedModel([calls('drop'), says('done')]);
  await using agent = agentOf(mcp, { model });

  const { decisions } = await agent.run('go');

  const [, call] = model.requests[1]?.messages ?? [];
  expect(call).toMatchObject({ content: [{ type: 'tool-call', name: 'mcp__db__drop' }] });
  expect(decisions).toMatchObject([{ type: 'modify', by: 'mcp', point: 'wrapModelCall' }]);
});

test('the tool of `toolSearch` keeps its name if a server has a tool of that name', async () => {
  const { mcp } = lab({ servers: { db: server('db', 'search_tools', 'drop') } });
  const model = scriptedModel([calls('search_tools', { query: 'drop' }), calls('drop'), says('done')]);
  await using agent = agentOf(mcp, { model, lifecycle: [toolSearch({ over: 1 })] });

  expect(resultsOf(await agent.run('go'))).toEqual([
    ['search_tools', expect.stringContaining('mcp__db__drop')],
    ['mcp__db__drop', 'db: {}'],
  ]);
});

test('a call that the provider executes keeps its name', async () => {
  const { mcp } = lab({ servers: { db: server('db', 'drop') } });
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const call = { type: 'tool-call', id: '1', name: 'drop', input: {}, needsApproval: true } as const;
  const generate = async () => ({ content: [call], finishReason: 'tool-calls', usage }) as const;
  await using agent = agentOf(mcp, { model: { id: 'm', generate } });

  expect((await agent.run('go')).pending).toMatchObject([{ name: 'drop' }]);
});
