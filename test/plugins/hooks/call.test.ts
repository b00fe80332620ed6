import { Agent, type AgentLifecycle, HookAction } from 'keelson';
import { type PluginHooks, plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { agentWith, folderWith, lastResult, moduleOf } from '../../support/plugins/plugin-folder.js';

const work = toolOf('work', () => 'the secret');
const withHooks = (hooks: PluginHooks) => ({ 'a.mjs': moduleOf({ name: 'a', hooks }) });

// covers: S3-4.4
test.each([
  ['a string', () => 'another answer'],
  ['a promise of a string', async () => 'another answer'],
  ['a number', () => 1],
])('an afterResponse that returns %s does not change the answer and logs no failure', async (_title, afterResponse) => {
  const { agent, log } = agentWith(withHooks({ afterResponse: afterResponse as never }), { script: [says('mine')] });
  const { text } = await agent.run('go');

  expect(text).toBe('mine');
  expect(log).toEqual([]);
});

describe('a plugin fails closed', () => {
  /** Returns a result whose `content` is invalid from the second read on. */
  const changingResult = () => {
    let reads = 0;
    return {
      get content() {
        reads += 1;
        return reads === 1 ? 'redacted' : (5 as never);
      },
    };
  };

  test('if its result changes between two reads', async () => {
    const { agent, model } = agentWith(withHooks({ afterToolExecute: changingResult }), { tools: [work] });
    await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: 'redacted', isError: false }]);
  });

  // An example is a logger that converts a circular error to JSON.
  test.each(['beforeToolExecute', 'afterToolExecute'] as const)(
    'if the logger throws on an error of %s',
    async (hook) => {
      const throws = () => {
        throw Object.assign(new Error('broken'), { isOdd: true });
      };
      const error = (_message: string, details?: unknown) => {
        if ((details as { isOdd?: boolean }).isOdd) throw new TypeError('circular structure');
      };
      const ran: unknown[] = [];
      const model = scriptedModel([calls('work'), says('end')]);
      const agent = new Agent({
        model,
        tools: [toolOf('work', () => ran.push('work') && 'the secret')],
        loaders: [plugins({ config: [{ path: 'a.mjs' }], workspaceDir: folderWith(withHooks({ [hook]: throws })) })],
        logger: { debug() {}, info() {}, warn() {}, error },
      });
      await agent.run('go');

      expect(JSON.stringify(model.requests)).not.toContain('the secret');
      expect(lastResult(model)).toMatchObject([{ isError: true }]);
      expect(ran).toEqual(hook === 'beforeToolExecute' ? [] : ['work']);
    },
  );
});

// A model may send such arguments, though hardly any tool accepts them.
describe.each([
  ['an array', ['ls', '-l']],
  ['a string', 'ls'],
  ['a number', 7],
])('arguments that are %s', (_title, input) => {
  const script = [calls('work', input), says('end')];
  const modules = {
    'a plugin': moduleOf({ name: 'a', hooks: { beforeToolExecute: (name, given) => ({ name, input: given }) } }),
    'a plugin for opencode': "export const Watch = async () => ({ 'tool.execute.before': async () => {} });\n",
  };

  test.each(Object.entries(modules))(
    'pass %s that changes nothing with the same result as without it',
    async (_kind, module) => {
      const { agent, log } = agentWith({ 'a.mjs': module }, { script, tools: [work] });
      const { messages } = await agent.run('go');

      expect(messages).toEqual((await agentWith({}, { script, tools: [work] }).agent.run('go')).messages);
      expect(log).toEqual([]);
    },
  );

  test('cannot replace an object: the call is blocked', async () => {
    const swaps: PluginHooks = { beforeToolExecute: (name) => ({ name, input: input as never }) };
    const { agent, model } = agentWith(withHooks(swaps), { tools: [work] });
    await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: expect.stringContaining('blocked by plugin "a"'), isError: true }]);
  });
});

test.each([
  ['beforeMessage', moduleOf({ name: 'a', hooks: { beforeMessage: (message) => `${message} (signed)` } })],
  [
    'chat.message',
    "export const A = async () => ({ 'chat.message': (_i, { parts }) => { parts[0].text += ' (signed)'; } });",
  ],
])('%s is not called if a run continues without a new message', async (_hook, module) => {
  const asking: AgentLifecycle = { wrapToolCall: () => HookAction.suspend('May I?') };
  const { agent } = agentWith({ 'a.mjs': module }, { tools: [work], lifecycle: [asking] });
  const { status, history } = await agent.run('go');
  const { messages } = await agent.run('', { messages: history, resume: { call_1: { deny: 'no' } } });

  expect(status).toBe('suspended');
  expect(history[0]).toEqual({ role: 'user', content: 'go (signed)' });
  expect(messages.map(({ role }) => role)).toEqual(['tool', 'assistant']);
});
