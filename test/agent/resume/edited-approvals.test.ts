import { type AgentLifecycle, defineTool, type Message, type ResumeDecision, toolResult } from 'keelson';
import { approval, openRun, sealRun } from 'keelson/lifecycles';
import { calls } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callsIn, cashier, PAY, type Pay } from '../../support/agent/approval.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { resultsIn } from '../../support/agent/transcript.js';

const NOTE = 'The person changed the arguments to {"euro":30}.';
const afterJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const payment = (euro: number) => ({ name: 'pay', input: { euro } });

describe('an approval with other arguments', () => {
  test('runs the tool with them, and tells the model, which keeps its own call', async () => {
    const { agent, model, paid } = cashier([PAY, 'done']);
    const { history } = await agent.run('Pay.');

    const result = await agent.run('', {
      messages: afterJson(history),
      resume: { call_1: { approve: { euro: 30 } } },
    });

    expect(paid).toEqual([{ euro: 30 }]);
    const read = model.requests[1]?.messages ?? [];
    expect(callsIn(read)[0]).toMatchObject({ input: { euro: 40 }, editedInput: { euro: 30 } });
    expect(resultsIn(read)).toEqual({ call_1: `${NOTE}\npaid 30` });
    expect(result).toMatchObject({
      status: 'completed',
      decisions: [{ type: 'approve', point: 'resume', before: { euro: 40 }, after: { euro: 30 } }],
    });
  });

  test.each<[string, Pay, object]>([
    ['data', ({ euro }) => ({ euro }), { content: `${NOTE}\n{"euro":30}`, structured: { euro: 30 } }],
    [
      'content parts',
      () => toolResult({ content: [{ type: 'image', image: 'aGk=' }] }),
      {
        content: [
          { type: 'text', text: NOTE },
          { type: 'image', image: 'aGk=' },
        ],
      },
    ],
    [
      'a failure',
      () => {
        throw new TypeError('no money');
      },
      { content: `${NOTE}\nno money`, isError: true },
    ],
  ])('tells the model before %s', async (_title, pay, expected) => {
    const { agent } = cashier([PAY, 'done'], { pay });
    const { history } = await agent.run('Pay.');

    const { messages } = await agent.run('', { messages: history, resume: { call_1: { approve: { euro: 30 } } } });

    expect(messages.find(({ role }) => role === 'tool')?.content).toEqual([
      { type: 'tool-result', id: 'call_1', name: 'pay', ...expected },
    ]);
  });

  test('shows wraps and events the arguments that run', async () => {
    const seen: unknown[] = [];
    const watch: AgentLifecycle = {
      name: 'watch',
      wrapToolCall: (call, next) => {
        seen.push([call.input, call.approved]);
        return next();
      },
    };
    const { agent } = cashier([PAY, 'done'], { lifecycle: [watch, approval()] });
    const { history } = await agent.run('Pay.');
    agent.on('tool-start', ({ input }) => void seen.push(input));

    await agent.run('', { messages: history, resume: { call_1: { approve: { euro: 30 } } } });

    expect(seen).toEqual([[{ euro: 40 }, undefined], { euro: 30 }, [{ euro: 30 }, true]]);
  });

  test('changes one of two parallel calls', async () => {
    const { agent, model, paid } = cashier([calls(payment(1), payment(2)), 'done']);
    const { history } = await agent.run('Pay.');

    await agent.run('', { messages: history, resume: { call_1: 'approve', call_2: { approve: { euro: 30 } } } });

    expect(paid).toEqual([{ euro: 1 }, { euro: 30 }]);
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'paid 1', call_2: `${NOTE}\npaid 30` });
  });

  test('corrects arguments that are not JSON', async () => {
    const bad = { type: 'tool-call', id: 'call_1', name: 'pay', input: undefined, invalidInput: '{"euro":' } as const;
    const { agent, paid } = cashier(['done']);
    const messages: Message[] = [
      { role: 'user', content: 'Pay.' },
      { role: 'assistant', content: [bad] },
    ];

    const { history } = await agent.run('', { messages, resume: { call_1: { approve: { euro: 30 } } } });

    expect(paid).toEqual([{ euro: 30 }]);
    expect(callsIn(history)).toEqual([{ ...bad, editedInput: { euro: 30 } }]);
  });

  test('goes through a sealed run', async () => {
    const key = 'k'.repeat(32);
    const { agent, paid } = cashier([PAY, 'done'], { name: 'desk' });
    const sealed = await sealRun(await agent.run('Pay.'), key, { agent: 'desk', expiresInMs: 1_000 });
    const { messages } = await openRun(sealed, key);

    const { text } = await agent.run('', { messages, resume: { call_1: { approve: { euro: 30 } } } });

    expect([text, paid]).toEqual(['done', [{ euro: 30 }]]);
  });
});

describe('other arguments are refused', () => {
  const ask = defineTool({ name: 'ask', description: 'Asks.', input: z.object({}) });
  const provider = { type: 'tool-call', id: 'call_1', name: 'mcp', input: {}, needsApproval: true } as const;
  const own = { type: 'tool-call', id: 'call_1', name: 'ask', input: {} } as const;
  const answer: Message = { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], suspended: true };
  const edit: ResumeDecision = { approve: { euro: 1 } };

  test.each<[string, Message, Record<string, ResumeDecision>, string]>([
    [
      'for a tool without `execute`',
      { role: 'assistant', content: [own] },
      { call_1: edit },
      'its tool has no `execute`',
    ],
    ['for a call of the provider', { role: 'assistant', content: [provider] }, { call_1: edit }, 'the provider runs'],
    ['for an unknown tool', { role: 'assistant', content: [{ ...own, name: 'x' }] }, { call_1: edit }, 'no tool "x"'],
    ['for an answer', answer, { answer: edit }, 'an answer has no arguments'],
  ])('%s', async (...[, asked, resume, words]) => {
    const { agent, model } = cashier([], { tools: [ask] });
    const messages: Message[] = [{ role: 'user', content: 'Go.' }, asked];

    const error = await rejectionOf(agent.run('', { messages, resume }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', message: expect.stringContaining(words) });
    expect(model.requests).toEqual([]);
  });
});

describe('`ask` of approval', () => {
  const asking = (answer: ResumeDecision) => [approval({ tools: ['pay'], ask: () => answer as 'approve' })];

  test('may change the arguments', async () => {
    const { agent, paid } = cashier([PAY, 'done'], { lifecycle: asking({ approve: { euro: 30 } }) });

    const { messages } = await agent.run('Pay.');

    expect(paid).toEqual([{ euro: 30 }]);
    expect(resultsIn(messages)).toEqual({ call_1: `${NOTE}\npaid 30` });
  });

  test('approves as usual with the arguments of the call', async () => {
    const { agent } = cashier([PAY, 'done'], { lifecycle: asking({ approve: { euro: 40 } }) });

    expect(resultsIn((await agent.run('Pay.')).messages)).toEqual({ call_1: 'paid 40' });
  });

  test.each<[object, string]>([
    [
      { euro: 500 },
      'The decision on "call_1" must have arguments that fit the schema of "pay": euro: must be at most 100.',
    ],
    [{ euro: 1n }, "`ask` must return 'approve', 'deny', { deny: reason }, { approve: input } or undefined"],
  ])('blocks the call for the arguments %o, in the same words as `resume`', async (approve, words) => {
    const lifecycle = asking({ approve: approve as never });
    const { agent, paid } = cashier([PAY, 'done'], { lifecycle, logger: keepingLogger() });

    const { messages } = await agent.run('Pay.');

    expect(paid).toEqual([]);
    expect(resultsIn(messages).call_1).toContain(words);
  });
});
