import type { AssistantPart, Message, ModelRequest, ModelResponse } from 'keelson';
import {
  calls,
  delays,
  fails,
  hangs,
  responds,
  ScriptExhaustedError,
  ScriptUnfinishedError,
  says,
  scriptedModel,
  streams,
} from 'keelson/testing';
import { describe, expect, it } from 'vitest';

const user: Message = { role: 'user', content: 'Hello' };

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [user], tools: [], ...fields };
}

function answered(response: ModelResponse): Message {
  return { role: 'assistant', content: response.content };
}

describe('a scripted model', () => {
  it('plays one step per call, and answers with a string entry', async () => {
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), '3']);

    expect(await model.generate(request())).toEqual({
      content: [{ type: 'tool-call', id: 'call_1', name: 'add', input: { a: 1, b: 2 } }],
      finishReason: 'tool-calls',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    });
    expect(await model.generate(request())).toEqual({
      content: [{ type: 'text', text: '3' }],
      finishReason: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    });
    model.assertDone();
  });

  it('gives each tool call a unique id, unless the step has one', async () => {
    const model = scriptedModel([
      calls({ name: 'add' }, { name: 'add', id: 'mine' }, { name: 'mul', input: [] }),
      says('And one more.', { calls: [{ name: 'add' }] }),
    ]);

    const first = await model.generate(request());
    const second = await model.generate(request());

    expect(first.content).toEqual([
      { type: 'tool-call', id: 'call_1', name: 'add', input: {} },
      { type: 'tool-call', id: 'mine', name: 'add', input: {} },
      { type: 'tool-call', id: 'call_2', name: 'mul', input: [] },
    ]);
    expect(second.content).toEqual([
      { type: 'text', text: 'And one more.' },
      { type: 'tool-call', id: 'call_3', name: 'add', input: {} },
    ]);
    expect(second.finishReason).toBe('tool-calls');
  });

  it('prefers the usage, finish reason and reasoning of a step to its own', async () => {
    const model = scriptedModel(
      [
        says('Cut', {
          reasoning: 'Hm',
          finishReason: 'length',
          usage: { inputTokens: 7, outputTokens: 2, reasoningTokens: 1 },
        }),
        'ok',
      ],
      { id: 'big', provider: 'acme', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 3 } },
    );

    expect(await model.generate(request())).toEqual({
      content: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'text', text: 'Cut' },
      ],
      finishReason: 'length',
      usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9, reasoningTokens: 1 },
    });
    expect((await model.generate(request())).usage.totalTokens).toBe(3);
    expect([model.id, model.provider]).toEqual(['big', 'acme']);
  });

  it('computes an entry or a response from the request, also asynchronously', async () => {
    const whole: ModelResponse = {
      content: [{ type: 'text', text: 'whole' }],
      finishReason: 'other',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    };
    const model = scriptedModel([
      ({ messages }) => `${messages.length} message`,
      async () => calls('add'),
      () => whole,
      () => () => 'nested',
    ]);

    expect((await model.generate(request())).content).toEqual([{ type: 'text', text: '1 message' }]);
    expect((await model.generate(request())).content).toMatchObject([{ type: 'tool-call', id: 'call_1' }]);
    expect(await model.generate(request())).toBe(whole);
    expect((await model.generate(request())).content).toEqual([{ type: 'text', text: 'nested' }]);
  });

  it('answers every call with a single entry', async () => {
    const model = scriptedModel(calls('add'));

    await model.generate(request());

    expect((await model.generate(request())).content).toMatchObject([{ id: 'call_2', name: 'add' }]);
    model.assertDone();
  });

  it('rejects with the error of a step', async () => {
    const limited = { status: 429, retryAfterMs: 5 };
    const model = scriptedModel([fails(limited), fails('overloaded'), fails()]);

    await expect(model.generate(request())).rejects.toBe(limited);
    await expect(model.generate(request())).rejects.toMatchObject({
      code: 'ERR_SCRIPTED_FAILURE',
      message: 'overloaded',
    });
    await expect(model.generate(request())).rejects.toMatchObject({ code: 'ERR_SCRIPTED_FAILURE' });
  });

  it('resolves with an invalid response if a test asks for one', async () => {
    const model = scriptedModel([responds(undefined), responds({ content: 'text' })]);

    expect(await model.generate(request())).toBeUndefined();
    expect(await model.generate(request())).toEqual({ content: 'text' });
  });
});

describe('the requests of a scripted model', () => {
  it('keep the messages of the call when the array changes later', async () => {
    const content: AssistantPart[] = [{ type: 'text', text: 'Hi' }];
    const messages: Message[] = [user, { role: 'assistant', content }];
    const bytes = new Uint8Array([1]);
    messages.push({ role: 'user', content: [{ type: 'image', image: bytes }] });
    const model = scriptedModel('ok');

    await model.generate(request({ messages }));
    messages.push(user);
    content.length = 0;

    expect(model.requests[0]?.messages).toEqual([
      user,
      { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'user', content: [{ type: 'image', image: bytes }] },
    ]);
  });

  it('contain only the specification of tools, and the original signal and settings', async () => {
    const { signal } = new AbortController();
    const tool = { name: 'add', description: 'Adds.', inputSchema: {}, execute: () => 1 };
    const model = scriptedModel('ok');

    await model.generate(request({ tools: [tool], signal, settings: { seed: 1 } }));

    expect(model.requests).toStrictEqual([
      {
        messages: [user],
        tools: [{ name: 'add', description: 'Adds.', inputSchema: {} }],
        signal,
        settings: { seed: 1 },
      },
    ]);
    expect(model.requests[0]?.signal).toBe(signal);
  });

  it('are not recorded with `record: false`', async () => {
    const model = scriptedModel('ok', { record: false });

    await model.generate(request());

    expect(model.requests).toEqual([]);
  });
});

describe('the end of a script', () => {
  it('rejects an extra call with its number and messages', async () => {
    const model = scriptedModel(['only']);
    const first = await model.generate(request());
    const messages: Message[] = [
      user,
      answered(first),
      { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'add', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', name: 'add', content: '3' }] },
    ];

    const error = await model.generate(request({ messages })).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(ScriptExhaustedError);
    expect(error).toMatchObject({
      code: 'ERR_SCRIPT_EXHAUSTED',
      call: 2,
      messages,
      retryable: false,
      message:
        'The script has 1 step, but call 2 was made. The request had 4 messages, the last 3: ' +
        'assistant "only", assistant calling add, tool "3". Add a step, or check why the run continued.',
    });
    expect(() => model.assertDone()).toThrow(error as Error);
  });

  it('rejects an extra call without messages', async () => {
    const model = scriptedModel([]);

    await expect(model.generate(request({ messages: [] }))).rejects.toThrow(
      'The script has 0 steps, but call 1 was made. The request had no message.',
    );
  });

  it('lists the unused steps', async () => {
    const model = scriptedModel([
      'first',
      says('x'.repeat(80)),
      calls('add', {}),
      () => 'computed',
      delays(5, streams(['a', 'b'], hangs())),
      streams(['a']),
      fails(),
      responds(1),
    ]);
    await model.generate(request());

    expect(() => model.assertDone()).toThrow(ScriptUnfinishedError);
    expect(() => model.assertDone()).toThrow(
      `7 of 8 scripted steps were not used: 2. says("${'x'.repeat(60)}…"), 3. calls(add), 4. a function, ` +
        '5. delays(5, streams("ab", hangs())), 6. streams("a"), 7. fails(), 8. responds(). Remove them, or check why the run ended early.',
    );
  });
});

describe('a scripted model with `perRun`', () => {
  it('gives each run the whole script, with its own call ids', async () => {
    const model = scriptedModel([calls('add'), calls({ name: 'add' }, { name: 'add' }), says('done')], {
      perRun: true,
    });

    const converse = async () => {
      const messages: Message[] = [user];
      for (let turn = 0; turn < 3; turn += 1) messages.push(answered(await model.generate(request({ messages }))));
      return messages;
    };
    const [one, two] = await Promise.all([converse(), converse()]);

    expect(one).toEqual(two);
    expect(JSON.stringify(one).match(/call_\d/g)).toEqual(['call_1', 'call_2', 'call_3']);
    model.assertDone();
  });

  it('reports an unused step and an extra call', async () => {
    const model = scriptedModel(['one', 'two'], { perRun: true });
    const long: Message[] = [user, { role: 'assistant', content: [] }, { role: 'assistant', content: [] }];

    await model.generate(request());
    expect(() => model.assertDone()).toThrow('1 of 2 scripted steps were not used: 2. says("two")');

    await expect(model.generate(request({ messages: long }))).rejects.toThrow(
      'The script has 2 steps, but call 3 was made.',
    );
  });
});

it('accepts tool call arguments of any depth', async () => {
  let input: unknown = 'deep';
  for (let depth = 0; depth < 100_000; depth += 1) input = { input };
  const model = scriptedModel(['read']);
  const call = { type: 'tool-call', id: '1', name: 'nest', input } as const;
  await model.generate(request({ messages: [user, { role: 'assistant', content: [call] }] }));

  expect(model.requests[0]?.messages).toHaveLength(2);
});
