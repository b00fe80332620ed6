import {
  Agent,
  type AgentLifecycle,
  type AssistantMessage,
  type AssistantPart,
  type Model,
  type ModelResponse,
  type RunOptions,
} from 'keelson';
import { calls, fails, responds, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../../support/agent/sample-tools.js';
import { rejectionOf, unhandledDuring } from '../../../support/agent/settle.js';
import { resultsIn, transcript } from '../../../support/agent/transcript.js';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const saying = (text: string): ModelResponse => ({ content: [{ type: 'text', text }], finishReason: 'stop', usage });

/** A model that returns an arbitrary value. */
const giving = (generate: () => unknown) => ({ id: 'bad', generate }) as Model;

/** Run options that each take a different code path of the model call. */
const ways: Readonly<Record<string, RunOptions>> = {
  plainly: {},
  'with a signal': { signal: new AbortController().signal },
  'with a time-out': { timeouts: { modelMs: 1_000 } },
  'with a limit for the first part': { timeouts: { firstPartMs: 1_000 } },
};

const bad: Readonly<Record<string, readonly [give: () => unknown, problem: RegExp]>> = {
  null: [async () => null, /it is null/],
  undefined: [async () => undefined, /it is undefined/],
  'a string': [async () => 'hello', /it is string/],
  'a number': [async () => 5, /it is number/],
  'null without a promise': [() => null, /it is null/],
  'undefined without a promise': [() => undefined, /it is undefined/],
  'content that is a string': [async () => ({ ...saying(''), content: 'x' }), /`content` must be an array/],
  'no content': [async () => ({ finishReason: 'stop', usage }), /`content` must be an array/],
  'a part that is null': [async () => ({ ...saying(''), content: [null] }), /a part of `content` must be an object/],
  'a part that is a string': [async () => ({ ...saying(''), content: ['x'] }), /a part of `content` must be an object/],
  'a part without type': [async () => ({ ...saying(''), content: [{ text: 'x' }] }), /no type/],
  'a text part without text': [async () => ({ ...saying(''), content: [{ type: 'text' }] }), /no text/],
  'a call without id': [
    async () => ({ ...saying(''), content: [{ type: 'tool-call', name: 'a', input: {} }] }),
    /no id/,
  ],
  'a call with an empty id': [
    async () => ({ ...saying(''), content: [{ type: 'tool-call', id: '', name: 'a', input: {} }] }),
    /no id/,
  ],
  'a call without name': [
    async () => ({ ...saying(''), content: [{ type: 'tool-call', id: 'a', input: {} }] }),
    /no name/,
  ],
};

describe.each(Object.entries(ways))('a model, called %s,', (_way, options) => {
  test.each(Object.entries(bad))(
    'that returns %s fails the run with a ModelError that describes the problem',
    async (_title, [give, problem]) => {
      const error = await rejectionOf(new Agent({ model: giving(give) }).run('go', options));

      expect(error).toMatchObject({
        code: 'ERR_MODEL_FAILED',
        model: 'bad',
        message: expect.stringMatching(problem),
        retryable: false,
        cause: { code: 'ERR_RESPONSE_INVALID' },
        messages: [{ role: 'user', content: 'go' }],
      });
    },
  );

  test('that throws synchronously fails the run with a ModelError', async () => {
    const cause = new TypeError('no key');
    const throwing = giving(() => {
      throw cause;
    });

    expect(await rejectionOf(new Agent({ model: throwing }).run('go', options))).toMatchObject({
      code: 'ERR_MODEL_FAILED',
      cause,
    });
  });

  test.each<[string, () => unknown]>([
    ['a response without a promise', () => saying('fine')],
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
    ['a thenable', () => ({ then: (resolve: (value: unknown) => void) => resolve(saying('fine')) })],
  ])('that returns %s works', async (_title, give) => {
    expect((await new Agent({ model: giving(give) }).run('go', options)).text).toBe('fine');
  });

  test.each([
    ['a string', 'down'],
    ['nothing', undefined],
    ['null', null],
    ['an object', { status: 503 }],
  ])('that rejects with %s fails the run with a ModelError with that cause', async (_title, cause) => {
    const unhandled = await unhandledDuring(async () => {
      const error = await rejectionOf(new Agent({ model: giving(() => Promise.reject(cause)) }).run('go', options));
      expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', cause });
    });
    expect(unhandled).toEqual([]);
  });
});

describe('an unusual response', () => {
  test('that is invalid is a ModelError for a wrap hook, which may call `next` again', async () => {
    const codes: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel([responds(null), fails('down'), 'fine']),
      lifecycle: [
        {
          async wrapModelCall(_request, next) {
            for (;;) {
              try {
                return await next();
              } catch (error) {
                codes.push((error as { code: string }).code);
              }
            }
          },
        },
      ],
    });

    expect((await agent.run('go')).text).toBe('fine');
    expect(codes).toEqual(['ERR_MODEL_FAILED', 'ERR_MODEL_FAILED']);
  });

  test('with unknown parts is kept in the message, and helpers skip the parts', async () => {
    const content = [
      { type: 'audio', data: 'x' } as unknown as AssistantPart,
      { type: 'text', text: 'heard' } as const,
    ];

    const { text, messages } = await new Agent({ model: giving(async () => ({ ...saying(''), content })) }).run('go');

    expect(text).toBe('heard');
    expect(messages[1]).toEqual({ role: 'assistant', content });
  });

  test('without parts does not count as an answer', async () => {
    const error = await rejectionOf(
      new Agent({ model: giving(async () => ({ ...saying(''), content: [] })) }).run('go'),
    );

    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'empty', retryable: false });
  });

  test('without a finish reason has the finish reason `other`', async () => {
    const { finishReason, ...rest } = saying('x');

    expect(finishReason).toBe('stop');
    expect((await new Agent({ model: giving(async () => rest) }).run('go')).finishReason).toBe('other');
  });

  test.each<[string, unknown]>([
    ['no usage', undefined],
    ['null', null],
    ['NaN', { inputTokens: Number.NaN, outputTokens: Number.NaN, totalTokens: Number.NaN }],
    ['strings', { inputTokens: '10', outputTokens: '5', totalTokens: '15' }],
    ['negative numbers', { inputTokens: -10, outputTokens: -5, totalTokens: -15 }],
    ['Infinity', { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 0, totalTokens: 0 }],
  ])('whose usage is %s counts as zero tokens', async (_title, counted) => {
    const model = scriptedModel([
      responds({ ...saying(''), content: [{ type: 'tool-call', id: 'c1', name: 'x', input: {} }], usage: counted }),
      'done',
    ]);

    expect((await new Agent({ model }).run('go')).usage).toEqual(usage);
  });

  test('without totalTokens has the sum of input and output tokens', async () => {
    const model = scriptedModel([responds({ ...saying('x'), usage: { inputTokens: 3, outputTokens: 4 } })]);

    expect((await new Agent({ model }).run('go')).usage).toEqual({ inputTokens: 3, outputTokens: 4, totalTokens: 7 });
  });
});

describe('calls with the same id in one response', () => {
  test('get distinct ids, so that each call has one result', async () => {
    const note = toolOf('note', (input, { callId }) => `${callId} ${JSON.stringify(input)}`);
    const twins = [1, 2, 3].map((n) => ({ name: 'note', id: 'same', input: { n } }));
    const model = scriptedModel([says('', { calls: twins }), 'done']);
    const kinds: string[] = [];
    const ids = { next: (kind: string) => `new${kinds.push(kind)}` };

    const { messages } = await new Agent({ model, tools: [note], ids }).run('go');

    expect(transcript(messages).slice(1, 3)).toEqual([
      'assistant: call same note, call new1 note, call new2 note',
      'tool: same=same {"n":1}, new1=new1 {"n":2}, new2=new2 {"n":3}',
    ]);
    expect(kinds).toEqual(['call', 'call']);
  });

  test('get distinct ids also if another call has the generated id', async () => {
    const note = toolOf('note', () => 'ok');
    const taken = ['a', 'a', 'b', 'a'].map((id) => ({ name: 'note', id }));
    const ids = { next: () => 'a' };

    const { messages } = await new Agent({
      model: scriptedModel([says('', { calls: taken }), 'done']),
      tools: [note],
      ids,
    }).run('go');

    expect(Object.keys(resultsIn(messages))).toHaveLength(4);
  });

  test('are also detected among many calls and a text', async () => {
    const note = toolOf('note', () => 'ok');
    const twins = Array.from({ length: 20 }, (_, at) => ({ name: 'note', id: at === 19 ? 'id0' : `id${at}` }));
    const ids = { next: () => 'fresh' };

    const { messages } = await new Agent({
      model: scriptedModel([says('Let me see.', { calls: twins }), 'done']),
      tools: [note],
      ids,
    }).run('go');

    expect((messages[1] as AssistantMessage).content[0]).toEqual({ type: 'text', text: 'Let me see.' });
    expect(Object.keys(resultsIn(messages))).toEqual([...twins.slice(0, 19).map(({ id }) => id), 'fresh']);
  });

  test('in two turns keep their ids', async () => {
    const note = toolOf('note', () => 'ok');
    const call = calls({ name: 'note', id: 'same' });

    const { messages } = await new Agent({ model: scriptedModel([call, call, 'done']), tools: [note] }).run('go');

    expect(transcript(messages)).toEqual([
      ...['user: go', 'assistant: call same note', 'tool: same=ok', 'assistant: call same note', 'tool: same=ok'],
      'assistant: done',
    ]);
  });
});

describe('a response that was cut off', () => {
  test.each(['length', 'content-filter'] as const)('by %s does not run the last call', async (finishReason) => {
    const ran: unknown[] = [];
    const note = toolOf('note', (input) => `${ran.push(input)}`);
    const two = [
      { name: 'note', input: { n: 1 } },
      { name: 'note', input: { n: 2 } },
    ];
    const model = scriptedModel([says('', { calls: two, finishReason }), 'done']);

    const { messages, text } = await new Agent({ model, tools: [note] }).run('go');

    expect(text).toBe('done');
    expect(ran).toEqual([{ n: 1 }]);
    expect(resultsIn(messages)).toEqual({
      call_1: '1',
      call_2: `!The call was not run: the response was cut off (${finishReason}) before the call was complete. Call again.`,
    });
  });

  test('without calls is the answer, with its finish reason', async () => {
    const model = scriptedModel([says('Once upon a', { finishReason: 'length' })]);

    const { text, finishReason } = await new Agent({ model }).run('go');

    expect([text, finishReason]).toEqual(['Once upon a', 'length']);
  });
});

describe('calls that the provider ran itself', () => {
  const searched: readonly AssistantPart[] = [
    { type: 'tool-call', id: 's1', name: 'web_search', input: { q: 'x' }, providerExecuted: true },
    { type: 'tool-result', id: 's1', name: 'web_search', content: 'found' },
    { type: 'text', text: 'I found it' },
  ];

  test('are not run again, and their result stays in place', async () => {
    const ran: string[] = [];
    const tool = toolOf('web_search', () => void ran.push('ran'));
    const model = scriptedModel([responds({ ...saying(''), content: searched })]);

    const { text, messages, turns } = await new Agent({ model, tools: [tool] }).run('go');

    expect([text, turns, ran]).toEqual(['I found it', 1, []]);
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: searched },
    ]);
  });

  test('do not prevent the other calls of the response', async () => {
    const own = { type: 'tool-call', id: 'c1', name: 'note', input: {} } as const;
    const model = scriptedModel([responds({ ...saying(''), content: [...searched, own] }), 'done']);

    const { messages } = await new Agent({ model, tools: [toolOf('note', () => 'ok')] }).run('go');

    expect(messages[2]).toEqual({
      role: 'tool',
      content: [{ type: 'tool-result', id: 'c1', name: 'note', content: 'ok' }],
    });
  });
});

test('a model that throws synchronously behind a wrap hook fails the run with a ModelError', async () => {
  const cause = new TypeError('thrown');
  const model = {
    id: 'throwing',
    generate: () => {
      throw cause;
    },
  };
  const caught: unknown[] = [];
  const wrap: AgentLifecycle = {
    wrapModelCall: (_request, next) =>
      next().catch((error) => {
        caught.push(error);
        throw error;
      }),
  };
  const error = await rejectionOf(new Agent({ model, lifecycle: [wrap] }).run('Hello'));

  expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', model: 'throwing', cause });
  expect(caught).toEqual([error]);
});
