import type { AiSdkModel, AiSdkOptions } from 'keelson/ai-sdk';
import { describe, expect, test, vi } from 'vitest';
import type { AssistantPart, Message, ToolResultPart } from '../../../src/model/message.js';
import type { ModelRequest } from '../../../src/model/model.js';
import { call, scriptedModel } from '../../support/providers/ai-sdk-model.js';

type Version = AiSdkModel['specificationVersion'];

const answer = { content: [{ type: 'text', text: 'Hi' }] };

/** Returns the options with which the model was called. */
async function sent(
  request: Partial<ModelRequest>,
  options: AiSdkOptions = {},
  { version = 'v3', provider = 'anthropic.messages' }: { version?: Version; provider?: string } = {},
) {
  const { error, model } = await call(scriptedModel(version, [answer], { provider }), request, options);
  if (error) throw error;
  return model.calls[0] ?? {};
}

const user: Message = { role: 'user', content: 'Hello' };
const mark = { provider: 'anthropic.messages' };

function assistant(...content: AssistantPart[]): Message[] {
  return [user, { role: 'assistant', content }];
}

describe('a prompt', () => {
  test('contains the instructions, the messages, and the metadata of each part', async () => {
    const signed = { anthropic: { signature: 's' } };
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'Hello', providerMetadata: { anthropic: { cacheControl: {} } } }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerMetadata: { ...signed, aiSdk: mark } },
          { type: 'text', text: 'Wait.' },
          { type: 'text', text: ' ' },
          { type: 'tool-call', id: 'c1', name: 'f', input: { a: 1 }, providerMetadata: { ...signed, aiSdk: mark } },
          { type: 'tool-call', id: 'c2', name: 'f', input: {}, invalidInput: '{"a' },
          { type: 'tool-call', id: 'c3', name: 'f', input: [1] },
        ],
      },
    ];

    const { prompt } = await sent({ messages });

    expect(prompt).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'Hello', providerOptions: { anthropic: { cacheControl: {} } } }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: signed },
          { type: 'text', text: 'Wait.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: { a: 1 }, providerOptions: signed },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'f', input: { invalid_json: '{"a' } },
          { type: 'tool-call', toolCallId: 'c3', toolName: 'f', input: { invalid_json: '[1]' } },
        ],
      },
    ]);
  });

  test('contains only portable parts of another provider', async () => {
    const theirs = {
      providerMetadata: { google: { thoughtSignature: 's' }, aiSdk: { provider: 'google.generative-ai' } },
    };
    const messages = assistant(
      { type: 'reasoning', text: 'Hm.', ...theirs },
      { type: 'reasoning', text: 'Hm.', providerMetadata: { openai: { field: 'reasoning_content' } } },
      { type: 'text', text: 'Wait.', ...theirs },
      { type: 'tool-call', id: 's1', name: 'search', input: {}, providerExecuted: true, ...theirs },
      { type: 'tool-result', id: 's1', name: 'search', content: '[]', ...theirs },
    );

    const { prompt } = await sent({ messages });

    expect(prompt).toMatchObject([{}, { role: 'assistant', content: [{ type: 'text', text: 'Wait.' }] }]);
    expect(JSON.stringify(prompt)).not.toMatch(/providerOptions|search|Hm/);
  });

  test.each<[Partial<ToolResultPart>, object]>([
    [{}, { type: 'json', value: [{ url: 'u' }] }],
    [{ isError: true }, { type: 'error-json', value: [{ url: 'u' }] }],
    [{ structured: 'found' }, { type: 'text', value: 'found' }],
    [
      { structured: undefined, isError: true },
      { type: 'error-text', value: '…' },
    ],
  ])('contains calls that the provider executed, with their original results: %j', async (fields, output) => {
    const providerMetadata = { anthropic: { itemId: 'i' }, aiSdk: mark };
    const result: ToolResultPart = {
      type: 'tool-result',
      id: 's1',
      name: 'search',
      content: '…',
      structured: [{ url: 'u' }],
      providerMetadata,
    };
    const messages = assistant(
      { type: 'tool-call', id: 's1', name: 'search', input: {}, providerExecuted: true, providerMetadata },
      { ...result, ...fields },
    );

    const { prompt } = await sent({ messages });

    const options = { providerOptions: { anthropic: { itemId: 'i' } } };
    const content = [
      { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: {}, providerExecuted: true, ...options },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', output, ...options },
    ];
    expect(prompt).toMatchObject([{}, { role: 'assistant', content }]);
  });

  test.each([
    ['openai.responses', { role: 'system', content: 'Late.' }],
    ['mistral.chat', { role: 'system', content: 'Late.' }],
    ['anthropic.messages', { role: 'user', content: [{ type: 'text', text: '<system>\nLate.\n</system>' }] }],
    ['google.vertex.chat', { role: 'user', content: [{ type: 'text', text: '<system>\nLate.\n</system>' }] }],
  ])('has a later system message in a form that %s accepts', async (provider, late) => {
    const system = (content: string) => ({ role: 'system', content }) as const;
    const messages: Message[] = [system('One.'), system('Two.'), user, system('Late.')];

    const { prompt } = await sent({ messages }, {}, { provider });

    expect(prompt).toEqual([system('One.'), system('Two.'), { role: 'user', content: expect.anything() }, late]);
  });
});

describe('a tool result', () => {
  const png = { type: 'image', image: 'iVBO', mediaType: 'image/png' } as const;
  const pdf = { type: 'file', data: new Uint8Array([1]), mediaType: 'application/pdf', filename: 'a.pdf' } as const;
  const link = { type: 'image', image: 'https://a.test/b.png' } as const;

  async function output(result: Partial<ToolResultPart>, version: Version = 'v3', provider?: string) {
    const signed = { anthropic: { caller: 'x' }, aiSdk: mark };
    const [user, calls] = assistant({ type: 'tool-call', id: 'c1', name: 'f', input: {}, providerMetadata: signed });
    const part: ToolResultPart = { type: 'tool-result', id: 'c1', name: 'f', content: 'ok', ...result };
    const messages = [user, calls, { role: 'tool', content: [part] }] as Message[];
    const supportedUrls = { 'image/*': [/^https:/] };
    const model = scriptedModel(version, [answer], { supportedUrls, ...(provider && { provider }) });
    const { error } = await call(model, { messages });
    expect(error).toBeUndefined();
    const [{ prompt = [] } = {}] = model.calls;
    return (prompt as { role: string; content: { output: unknown }[] }[]).slice(2);
  }

  test.each<[string, Partial<ToolResultPart>, object]>([
    ['a string', {}, { type: 'text', value: 'ok' }],
    ['data', { content: '{"a":1}', structured: { a: 1 } }, { type: 'text', value: '{"a":1}' }],
    ['an error', { isError: true }, { type: 'error-text', value: 'ok' }],
    ['an empty string', { content: '' }, { type: 'text', value: '(no output)' }],
    ['text parts', { content: [{ type: 'text', text: 'a' }] }, { type: 'text', value: 'a' }],
  ])('may be %s', async (_title, result, expected) => {
    const [message] = await output(result);

    expect(message?.content).toEqual([
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'f',
        output: expected,
        providerOptions: { anthropic: { caller: 'x' } },
      },
    ]);
  });

  const image = { type: 'data', data: 'iVBO' };
  test.each<[Version, readonly object[]]>([
    [
      'v2',
      [
        { type: 'media', data: 'iVBO', mediaType: 'image/png' },
        { type: 'media', data: 'AQ==', mediaType: 'application/pdf' },
        { type: 'text', text: 'https://a.test/b.png' },
      ],
    ],
    [
      'v3',
      [
        { type: 'image-data', data: 'iVBO', mediaType: 'image/png' },
        { type: 'file-data', data: 'AQ==', mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'image-url', url: 'https://a.test/b.png' },
      ],
    ],
    [
      'v4',
      [
        { type: 'file', data: image, mediaType: 'image/png' },
        { type: 'file', data: { type: 'data', data: pdf.data }, mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file', data: { type: 'url', url: new URL('https://a.test/b.png') }, mediaType: 'image/*' },
      ],
    ],
  ])('contains images and files in the form of %s', async (version, value) => {
    const content = [{ type: 'text' as const, text: 'See' }, png, pdf, link];

    const [message] = await output({ content }, version);
    const [failed] = await output({ content, isError: true }, version);

    const parts = [{ type: 'text', text: 'See' }, ...value];
    expect(message?.content[0]?.output).toEqual({ type: 'content', value: parts });
    const told = { type: 'content', value: [{ type: 'text', text: 'Error:' }, ...parts] };
    expect(failed?.content[0]?.output).toEqual(told);
  });

  test.each(['groq.chat', 'google.generative-ai', 'amazon-bedrock'])(
    'marks an error in the text for %s, which has no error flag',
    async (provider) => {
      const [unmarked] = await output({ isError: true }, 'v3', provider);
      const [said] = await output({ isError: true, content: 'Error 7' }, 'v3', provider);

      expect(unmarked?.content[0]?.output).toEqual({ type: 'error-text', value: 'Error: ok' });
      expect(said?.content[0]?.output).toEqual({ type: 'error-text', value: 'Error 7' });
    },
  );

  test('is followed by its images if the provider accepts only text', async () => {
    const [message, attached] = await output({ content: [{ type: 'text', text: 'See' }, png] }, 'v3', 'groq.chat');

    expect(message?.content).toMatchObject([{ output: { type: 'text', value: 'See\n(1 attachment follows.)' } }]);
    expect(attached).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'From tool call c1 (f):' },
        { type: 'file', data: 'iVBO', mediaType: 'image/png' },
      ],
    });
  });
});

describe('a call', () => {
  test('leaves out a tool whose schema is invalid, with a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const bad = { name: 'bad', description: '', inputSchema: { type: 'object', required: true } };
    const good = {
      name: 'good',
      description: '',
      inputSchema: { type: 'object', properties: {}, required: ['a', 'a'] },
    };

    const { tools } = await sent({ messages: [user], tools: [bad, good] });

    expect(tools).toMatchObject([{ name: 'good', inputSchema: { required: ['a'] } }]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('Tool "bad" is left out of requests to anthropic: ')]]);
    warn.mockRestore();
  });

  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { a: {} } };
  const tools = [{ name: 'f', description: 'Does.', inputSchema: schema }];
  const { $schema, ...inputSchema } = schema;
  const functionTool = { type: 'function', name: 'f', description: 'Does.', inputSchema };

  test.each([
    ['v2', 'provider-defined'],
    ['v3', 'provider'],
    ['v4', 'provider'],
  ] as const)('has provider tools in the form of %s instead of agent tools of the same name', async (version, type) => {
    const bash = { type, id: 'anthropic.bash_20250124', args: { a: 1 }, execute: undefined };
    const local = { name: 'bash', description: 'Runs.', inputSchema: {} };

    const options = await sent({ tools: [...tools, local] }, { providerTools: { bash } }, { version });

    expect(options.tools).toEqual([
      functionTool,
      { type, id: 'anthropic.bash_20250124', name: 'bash', args: { a: 1 } },
    ]);
  });

  const settings = {
    temperature: 0,
    topP: 0.5,
    maxOutputTokens: 9,
    stopSequences: ['.'],
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
  };
  const effort = { ...settings, reasoningEffort: 'low' } as const;

  test('has every setting, some as provider options', async () => {
    const given = { ...effort, providerOptions: { xai: { searchParameters: {} }, other: { a: 1 } } };
    const options = { xai: { reasoningEffort: 'low', searchParameters: {} }, other: { a: 1 } };
    const at = { provider: 'xai.chat' };

    const older = await sent({ settings: given }, {}, { ...at, version: 'v3' });
    const newer = await sent({ settings: given }, {}, { ...at, version: 'v4' });

    expect(older).toMatchObject({ ...settings, providerOptions: options });
    expect(older).not.toHaveProperty('reasoning');
    expect(newer).toMatchObject({ ...settings, reasoning: 'low' });
    expect(newer.providerOptions).toEqual(given.providerOptions);
    expect(Object.keys(await sent({}))).toEqual(['prompt', 'abortSignal']);
  });

  test.each<[string, Version, readonly (string | undefined)[]]>([
    ['openai.chat', 'v3', ['none', 'minimal', 'low', 'medium']],
    ['groq.chat', 'v2', ['none', 'low', 'low', 'medium']],
    ['xai.chat', 'v2', [undefined, 'low', 'low', 'medium']],
    ['xai.responses', 'v3', ['none', 'low', 'low', 'medium']],
    ['deepseek.chat', 'v3', [undefined, 'low', 'low', 'medium']],
    ['mistral.chat', 'v3', ['none', 'high', 'high', 'high']],
  ])('sends %s by %s the nearest accepted reasoning effort', async (provider, version, told) => {
    for (const [at, reasoningEffort] of (['none', 'minimal', 'low', 'medium'] as const).entries()) {
      const { providerOptions } = await sent({ settings: { reasoningEffort } }, {}, { provider, version });
      expect(Object.values(providerOptions ?? {})).toEqual(told[at] ? [{ reasoningEffort: told[at] }] : []);
    }
  });

  test('requests JSON with the schema, and turns off strict mode if OpenAI would refuse the schema', async () => {
    const output = { schema: { ...schema, required: ['a'], additionalProperties: false } };
    const responseFormat = { type: 'json', name: 'output', schema: { ...inputSchema, ...output.schema } };
    Reflect.deleteProperty(responseFormat.schema, '$schema');

    expect((await sent({ output })).responseFormat).toEqual(responseFormat);
    const strict = await sent({ output }, {}, { provider: 'openai.responses' });
    const loose = await sent({ output: { schema } }, {}, { provider: 'azure.responses' });
    expect(strict).not.toHaveProperty('providerOptions');
    expect(loose.providerOptions).toEqual({ openai: { strictJsonSchema: false } });
  });
});
