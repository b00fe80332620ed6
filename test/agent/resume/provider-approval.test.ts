import { Agent, type AgentEvent, type AgentLifecycle, defineTool, type Model } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { describe, expect, test } from 'vitest';
import { resultsIn } from '../../support/agent/transcript.js';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, execute: () => 'seen' });
const asked = {
  type: 'tool-call',
  id: 'm1',
  name: 'mcp__docs__erase',
  input: { page: 7 },
  needsApproval: true,
} as const;
const own = { type: 'tool-call', id: 'c1', name: 'look', input: {} } as const;

/** A model that asks for an approval first, and then answers. */
const asking: Model = {
  id: 'm',
  provider: 'openai',
  async generate({ messages }) {
    if (messages.at(-1)?.role === 'tool') {
      return { content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop', usage };
    }
    return { content: [asked, own], finishReason: 'tool-calls', usage };
  },
};

const agentWith = (...lifecycle: readonly AgentLifecycle[]) => new Agent({ model: asking, tools: [look], lifecycle });

describe('a call that the provider executes after an approval', () => {
  test('suspends the run, while the other calls of the turn run', async () => {
    const events: AgentEvent[] = [];
    const stream = agentWith().stream('Erase page 7.');
    for await (const event of stream) events.push(event);
    const result = await stream.result;

    expect(result).toMatchObject({
      status: 'suspended',
      pending: [{ ...asked, reason: '"mcp__docs__erase" needs approval.', by: 'openai' }],
      decisions: [{ type: 'suspend', by: 'openai', point: 'wrapToolCall', turn: 1 }],
    });
    expect(resultsIn(result.messages)).toEqual({ c1: 'seen' });
    expect(events.filter(({ type }) => type === 'tool-end')).toHaveLength(2);
  });

  test.each([
    ['approve', 'The call was approved.'],
    ['deny', '!The call was denied.'],
    [{ deny: 'Not today.' }, '!The call was denied: Not today.'],
  ] as const)('gets the decision %o as its result', async (decision, expected) => {
    const { history } = await agentWith().run('Erase page 7.');
    const stored = JSON.parse(JSON.stringify(history));

    const { status, messages } = await agentWith().run('', { messages: stored, resume: { m1: decision } });

    expect(status).toBe('completed');
    expect(resultsIn(messages)).toEqual({ m1: expected, c1: 'seen' });
  });

  test('may be denied by a hook, which sees that the call needs approval', async () => {
    const guard: AgentLifecycle = {
      name: 'guard',
      wrapToolCall: async (call, next) => (call.needsApproval ? { content: 'Never.', isError: true } : next(call)),
    };

    const { status, messages } = await agentWith(guard).run('Erase page 7.');

    expect(status).toBe('completed');
    expect(resultsIn(messages)).toEqual({ m1: '!Never.', c1: 'seen' });
  });

  test('is decided at once by the callback of `approval`', async () => {
    const names: string[] = [];
    const ask = (call: { readonly name: string }) => {
      names.push(call.name);
      return 'approve' as const;
    };

    const { messages } = await agentWith(approval({ tools: ['other'], optional: true, ask })).run('Erase page 7.');

    expect(names).toEqual(['mcp__docs__erase']);
    expect(resultsIn(messages)).toEqual({ m1: 'The call was approved.', c1: 'seen' });
  });
});
