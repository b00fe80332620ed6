import { Agent, defineTool, ModelError } from 'keelson';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../../src/model/message.js';
import type { ModelRequest } from '../../../src/model/model.js';
import { call, inOrder } from '../../support/providers/adapter-call.js';
import { type Adapter, adapters } from '../../support/providers/adapters.js';
import type { HeardItem } from '../../support/providers/heard.js';
import { type RequestBody, startOpenAIServer } from '../../support/providers/openai-server.js';

const PNG = 'iVBORw0KGgo=';
const user = (content: string): Message => ({ role: 'user', content });
const toolCall = (id: string, input: unknown = {}) => ({ type: 'tool-call' as const, id, name: 'look', input });
const result = (id: string, content: string) => ({ type: 'tool-result' as const, id, name: 'look', content });
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' as const } };

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});
const addCall = (id: string, text: string) => ({ id, name: 'add', arguments: text });

/** Returns the body of the request that a call sends. */
async function sent(adapter: Adapter, request: Partial<ModelRequest>): Promise<RequestBody> {
  const { error, requests } = await call(adapter, inOrder(adapter, { text: 'Hi' }), { request });
  if (error) throw error;
  return requests[0]?.body as RequestBody;
}

async function heard(adapter: Adapter, ...messages: readonly Message[]): Promise<readonly HeardItem[]> {
  return adapter.heard(await sent(adapter, { messages }));
}

describe.each(adapters)('a request to $name', (adapter) => {
  test('contains the whole conversation, each call with its result', async () => {
    const items = await heard(
      adapter,
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look 👋' },
          { type: 'image', image: PNG, mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'I do.' }, toolCall('call_1', { a: 1 }), toolCall('call_2')],
      },
      { role: 'tool', content: [result('call_1', 'Grüße'), { ...result('call_2', 'No such file'), isError: true }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      user('So?'),
    );

    expect(items).toEqual([
      { type: 'system', text: 'Be brief.' },
      { type: 'user', text: 'Look 👋' },
      { type: 'picture', url: `data:image/png;base64,${PNG}` },
      { type: 'assistant', text: 'I do.' },
      { type: 'call', id: 'call_1', name: 'look', input: { a: 1 } },
      { type: 'call', id: 'call_2', name: 'look', input: {} },
      { type: 'result', id: 'call_1', text: 'Grüße', isError: false },
      { type: 'result', id: 'call_2', text: expect.stringMatching(/No such file$/), isError: true },
      { type: 'assistant', text: 'Done.' },
      { type: 'user', text: 'So?' },
    ]);
  });

  test('contains an image of a tool result after its text', async () => {
    const picture = { type: 'image', image: Buffer.from(PNG, 'base64'), mediaType: 'image/png' } as const;
    const content = [{ type: 'text' as const, text: 'Seen' }, picture];
    for (const isError of [false, true]) {
      const items = await heard(
        adapter,
        user('Look'),
        { role: 'assistant', content: [toolCall('call_1'), toolCall('call_2')] },
        { role: 'tool', content: [{ ...result('call_1', ''), content, isError }, result('call_2', 'ok')] },
      );

      expect(items.slice(1).filter(({ type }) => type === 'call' || type === 'result')).toMatchObject([
        { id: 'call_1' },
        { id: 'call_2' },
        { id: 'call_1', text: expect.stringContaining('Seen'), isError },
        { id: 'call_2', text: 'ok' },
      ]);
      expect(items).toContainEqual({ type: 'picture', url: `data:image/png;base64,${PNG}` });
    }
  });

  test('contains no empty messages, and a placeholder for an empty tool result', async () => {
    const items = await heard(
      adapter,
      { role: 'system', content: ' ' },
      user('Look'),
      { role: 'assistant', content: [{ type: 'text', text: ' ' }, toolCall('call_1')] },
      { role: 'tool', content: [result('call_1', '')] },
      { role: 'assistant', content: [] },
      { role: 'assistant', content: [{ type: 'text', text: '\n\n' }] },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }, toolCall('call_2')] },
      { role: 'tool', content: [{ ...result('call_2', ''), content: [{ type: 'text', text: ' ' }], isError: true }] },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'So?' },
        ],
      },
    );

    expect(items).toEqual([
      { type: 'user', text: 'Look' },
      { type: 'call', id: 'call_1', name: 'look', input: {} },
      { type: 'result', id: 'call_1', text: '(no output)', isError: false },
      { type: 'call', id: 'call_2', name: 'look', input: {} },
      { type: 'result', id: 'call_2', text: expect.stringMatching(/^(Error: )?\(no output\)$/), isError: true },
      { type: 'user', text: 'So?' },
    ]);
  });

  test('contains no lone surrogates', async () => {
    const cut = 'A \ud83d';
    const body = await sent(adapter, {
      messages: [
        { role: 'system', content: cut },
        { role: 'user', content: [{ type: 'text', text: cut }] },
        { role: 'assistant', content: [{ type: 'text', text: cut }, toolCall('call_1', { [cut]: [cut] })] },
        { role: 'tool', content: [result('call_1', cut)] },
        { role: 'assistant', content: [{ ...toolCall('call_2'), invalidInput: cut }] },
        { role: 'tool', content: [{ ...result('call_2', ''), content: [{ type: 'text', text: cut }] }] },
        user(cut),
      ],
      tools: [
        {
          name: 'look',
          description: cut,
          inputSchema: { type: 'object', properties: { a: { type: 'string', description: cut } } },
        },
      ],
      output: { schema: { type: 'object', description: cut, properties: { a: { enum: [cut] } } } },
    });

    const escapes = JSON.stringify(body)
      .replaceAll('\\\\', '\\')
      .match(/\\ud[89a-f]../gi);
    expect(escapes).toBeNull();
  });

  test.each([null, 'word', [1], { a: undefined }])('contains an object for arguments of %j', async (input) => {
    const items = await heard(
      adapter,
      user('Look'),
      { role: 'assistant', content: [toolCall('call_1', input)] },
      {
        role: 'tool',
        content: [result('call_1', 'ok')],
      },
    );

    const [called] = items.filter(({ type }) => type === 'call') as { input: unknown }[];
    expect(called?.input).toBeTypeOf('object');
    expect(called?.input).not.toBeNull();
    expect(Array.isArray(called?.input)).toBe(false);
  });

  test('contains a later system message in its place', async () => {
    const items = await heard(
      adapter,
      user('Hello'),
      { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'system', content: 'It is late.' },
      user('So?'),
    );

    const texts = items.map((item) => ('text' in item ? item.text : ''));
    expect(texts.map((text) => text.match(/Hello|Hi|It is late\.|So\?/)?.[0])).toEqual([
      'Hello',
      'Hi',
      'It is late.',
      'So?',
    ]);
  });

  test.each(['auto', 'required', 'none', { tool: 'look' }] as const)(
    'contains the tool choice %j',
    async (toolChoice) => {
      expect(adapter.tools(await sent(adapter, { tools: [look], toolChoice })).choice).toEqual(toolChoice);
    },
  );

  test('contains tool schemas without root alternatives, which providers refuse', async () => {
    const properties = { a: { type: 'number' } };
    const plain = { ...look, inputSchema: { $schema: 'urn:a', type: 'object', properties, required: ['a'] } };
    const union = { ...look, inputSchema: { anyOf: [{ type: 'object', properties, required: ['a'] }] } };
    const parameters = { type: 'object', properties, required: ['a'] };
    for (const tool of [plain, union]) {
      const { tools, choice } = adapter.tools(await sent(adapter, { tools: [tool] }));

      expect(tools).toMatchObject([{ name: 'look', description: 'Looks.', parameters }]);
      expect(Object.keys(Object(tools[0]).parameters)).not.toContain(tool === union ? 'anyOf' : '$schema');
      expect([undefined, 'auto']).toContain(choice);
    }
  });

  test('contains no missing settings, unknown settings or options of other providers', async () => {
    const plain = await sent(adapter, { settings: {} });
    const settings = { temperature: undefined, frobnicate: 7, providerOptions: { other: { user: 'u' } } };

    expect(await sent(adapter, { settings })).toEqual(plain);
    expect(await sent(adapter, { settings: { stopSequences: [] } })).toEqual(plain);
    const own = { providerOptions: { [adapter.provider]: { service_tier: 'auto', serviceTier: 'auto' } } };
    expect(await sent(adapter, { settings: own })).toMatchObject({ service_tier: 'auto' });
    expect(JSON.stringify(await sent(adapter, { settings: { maxOutputTokens: 77 } }))).toMatch(/_tokens":77\b/);
  });

  test("contains the headers of the model's options", async () => {
    const { requests } = await call(adapter, inOrder(adapter, { text: 'Hi' }), { headers: { 'x-team': 'a' } });

    expect(requests[0]?.headers['x-team']).toBe('a');
  });

  test.each([
    [{ type: 'image', image: 'AAAA' }, /mediaType/],
    [{ type: 'image', image: 7, mediaType: 'image/png' }, /URL.+Uint8Array/],
    [{ type: 'file', data: undefined, mediaType: 'image/png' }, /URL.+Uint8Array/],
  ])('is not sent with an invalid image: %j', async (part, message) => {
    const request = { messages: [{ role: 'user', content: [part] }] as never };
    const { error, requests } = await call(adapter, inOrder(adapter, { text: 'Hi' }), { request });

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID', message: expect.stringMatching(message) });
    expect(requests).toEqual([]);
  });

  test('does not mutate its input', async () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    const request = freeze({
      messages: [
        user('Look'),
        { role: 'assistant', content: [toolCall('call_1', { a: { b: [1] } })] },
        { role: 'tool', content: [{ ...result('call_1', ''), content: [{ type: 'text', text: 'ok' }] }] },
      ] as Message[],
      tools: [look],
      settings: { stopSequences: ['END'], providerOptions: { [adapter.provider]: { user: 'u' } } },
      output: { schema: { type: 'object', properties: { a: { type: 'string' } } } },
    });

    await expect(sent(adapter, request as never)).resolves.toBeTypeOf('object');
  });
});

describe.each(adapters)('an agent on $name', (adapter) => {
  test('executes tools in parallel, and gives the same answer with and without streaming', async () => {
    const toolCalls = [addCall('call_1', '{"a":1,"b":2}'), addCall('call_2', '{"a":3,"b":4}')];
    const answers = [{ text: 'Let me add.', toolCalls }, { text: 'Three and seven.' }];
    await using server = await startOpenAIServer(inOrder(adapter, ...answers, ...answers));
    const agent = new Agent({ model: adapter.model(server.baseURL), tools: [add], instructions: 'Add.' });

    const ran = await agent.run('Sums, please');
    const stream = agent.stream('Sums, please');
    let text = '';
    for await (const event of stream) if (event.type === 'text-delta') text += event.text;
    const streamed = await stream.result;

    expect([ran.text, streamed.text, text]).toEqual([
      'Three and seven.',
      'Three and seven.',
      'Let me add.Three and seven.',
    ]);
    expect(streamed.messages).toEqual(ran.messages);
    expect(ran.usage).toMatchObject({ inputTokens: 24, outputTokens: 10, totalTokens: 34 });
    const expected = [
      { type: 'system', text: 'Add.' },
      { type: 'user', text: 'Sums, please' },
      { type: 'assistant', text: 'Let me add.' },
      { type: 'call', id: 'call_1', name: 'add', input: { a: 1, b: 2 } },
      { type: 'call', id: 'call_2', name: 'add', input: { a: 3, b: 4 } },
      { type: 'result', id: 'call_1', text: '3', isError: false },
      { type: 'result', id: 'call_2', text: '7', isError: false },
    ];
    expect([1, 3].map((at) => adapter.heard(server.requests[at]?.body as RequestBody))).toEqual([expected, expected]);
    const streams = server.requests.map(({ body }) => body.stream === true);
    expect(streams).toEqual([adapter.alwaysStreams === true, adapter.alwaysStreams === true, true, true]);
  });

  test('gets an error result for invalid JSON or invalid arguments, and can call again', async () => {
    const bad = [addCall('call_1', '{"a":1,'), addCall('call_2', '{"a":"x","b":2}')];
    const good = { toolCalls: [addCall('call_3', '{"a":1,"b":2}')] };
    await using server = await startOpenAIServer(inOrder(adapter, { toolCalls: bad }, good, { text: 'Three.' }));
    const agent = new Agent({ model: adapter.model(server.baseURL), tools: [add] });

    expect((await agent.run('One and two?')).text).toBe('Three.');
    expect(adapter.heard(server.requests[1]?.body as RequestBody).slice(1)).toMatchObject([
      { type: 'call', input: { invalid_json: '{"a":1,' } },
      { type: 'call', input: { a: 'x', b: 2 } },
      { type: 'result', id: 'call_1', isError: true, text: expect.stringMatching(/JSON/) },
      { type: 'result', id: 'call_2', isError: true },
    ]);
  });

  test.each(['length', 'content-filter'] as const)(
    'does not execute calls of a response cut off by its %s',
    async (finish) => {
      const cut = { toolCalls: [addCall('call_1', '{"a":1,"b":2}')], finish };
      await using server = await startOpenAIServer(inOrder(adapter, cut, { text: 'Sorry.' }));
      const agent = new Agent({ model: adapter.model(server.baseURL), tools: [add] });

      const { messages } = await agent.run('One and two?');

      expect(messages[2]?.content).toMatchObject([{ isError: true, content: expect.stringMatching(/not run/) }]);
    },
  );

  test('gives an output that matches the schema, even after a repair', async () => {
    await using server = await startOpenAIServer(inOrder(adapter, { text: '{"sum":"three"}' }, { text: '{"sum":3}' }));
    const agent = new Agent({ model: adapter.model(server.baseURL) });

    const { output } = await agent.run('One and two?', { output: z.object({ sum: z.number() }) });

    expect(output).toEqual({ sum: 3 });
    for (const { body } of server.requests) expect(JSON.stringify(body)).toMatch(/"required":\["sum"\]/);
  });

  test('rejects with a ModelError that has the status, the retry delay and the messages', async () => {
    const json = adapter.errorBody('rate_limit_error', 'Slow down');
    const headers = { 'retry-after-ms': '5', 'x-request-id': 'req_1', 'request-id': 'req_1' };
    const limited = { status: 429, headers, json };
    const calls = { toolCalls: [addCall('call_1', '{"a":1,"b":2}')] };
    await using server = await startOpenAIServer((body, index) => (index === 0 ? adapter.reply(calls, body) : limited));
    const agent = new Agent({ model: adapter.model(server.baseURL, { maxRetries: 1 }), tools: [add] });

    const error = await agent.run('One and two?').catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({
      status: 429,
      retryable: true,
      retryAfterMs: 5,
      cause: { code: 'ERR_PROVIDER_FAILED', provider: adapter.provider, message: '429 Slow down', requestId: 'req_1' },
    });
    expect((error as ModelError).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(server.requests).toHaveLength(3);
  });

  test.each(adapters.filter((other) => other !== adapter))(
    'continues a conversation that $name began',
    async (before) => {
      const first = {
        text: 'Let me add.',
        toolCalls: [addCall('call_1', '{"a":1,"b":2}')],
        ...(before.tellsReasoning && { reasoning: 'Hm, secret thoughts.' }),
      };
      await using one = await startOpenAIServer(inOrder(before, first, { text: 'Three.' }));
      await using other = await startOpenAIServer(inOrder(adapter, { text: 'Still three.' }));
      const agent = new Agent({ model: before.model(one.baseURL), tools: [add] });

      const { history } = await agent.run('One and two?');
      const stored: typeof history = JSON.parse(JSON.stringify(history));
      await agent.run('Again?', { messages: stored, model: adapter.model(other.baseURL) });

      const body = other.requests[0]?.body as RequestBody;
      expect(adapter.heard(body)).toEqual([
        { type: 'user', text: 'One and two?' },
        { type: 'assistant', text: 'Let me add.' },
        { type: 'call', id: 'call_1', name: 'add', input: { a: 1, b: 2 } },
        { type: 'result', id: 'call_1', text: '3', isError: false },
        { type: 'assistant', text: 'Three.' },
        { type: 'user', text: 'Again?' },
      ]);
      expect(JSON.stringify(body)).not.toMatch(/secret thoughts|EqQBCg|item_reference|rs_1|msg_1|fc_/);
    },
  );
});
