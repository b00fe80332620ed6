import type { AiSdkModel, AiSdkOptions } from 'keelson/ai-sdk';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Message } from '../../../src/model/message.js';
import type { ModelRequest, ToolSpec } from '../../../src/model/model.js';
import { call, finish, scriptedModel } from '../../support/providers/ai-sdk-model.js';

const string = { type: 'string' };
const odd: ToolSpec = {
  name: 'odd',
  description: '',
  inputSchema: {
    type: 'object',
    properties: { $filter: string, 'a b': string, '@type': string, ['k'.repeat(70)]: string, plain: string },
    required: ['$filter'],
  },
};
const wireNames = ['_filter', 'a_b', '_type', 'k'.repeat(64), 'plain'];
const user: Message = { role: 'user', content: 'Hello' };

function many(count: number): readonly ToolSpec[] {
  return Array.from({ length: count }, (_, at) => ({ ...odd, name: `t${at}`, inputSchema: { type: 'object' } }));
}

function silentConsole() {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  return warn;
}

type Model = Partial<Pick<AiSdkModel, 'provider' | 'modelId'>>;

/** Returns the names of the tools in a request, and the names of the arguments of the first one. */
async function sent(request: Partial<ModelRequest>, model: Model, options: AiSdkOptions = {}) {
  const scripted = scriptedModel('v3', [{ content: [{ type: 'text', text: 'Hi' }] }], model);
  const { error } = await call(scripted, request, options);
  if (error) throw error;
  const { tools, prompt } = scripted.calls[0] as {
    tools: { name: string; inputSchema: ToolSpec['inputSchema'] }[];
    prompt: unknown;
  };
  return {
    names: tools.map(({ name }) => name),
    properties: Object.keys(tools[0]?.inputSchema.properties ?? {}),
    required: tools[0]?.inputSchema.required,
    prompt,
  };
}

describe('a request to a model of Anthropic', () => {
  test.each<[string, Model]>([
    ['@ai-sdk/anthropic', { provider: 'anthropic.messages' }],
    ['Vertex AI', { provider: 'vertex.anthropic.messages' }],
    ['Bedrock', { provider: 'amazon-bedrock', modelId: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' }],
    ['a gateway', { provider: 'gateway', modelId: 'anthropic/claude-sonnet-4.5' }],
  ])('has the names of arguments that its API accepts: through %s', async (_title, model) => {
    const { properties, required } = await sent({ tools: [odd] }, model);

    expect(properties).toEqual(wireNames);
    expect(required).toEqual(['_filter']);
  });

  test('has these names in earlier calls, and the history does not change', async () => {
    const input = { $filter: 'x', plain: 'y' };
    const messages: Message[] = [
      user,
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'odd', input }] },
      { role: 'tool', content: [{ type: 'tool-result', id: 'c1', name: 'odd', content: 'ok' }] },
    ];

    const { prompt } = await sent({ messages, tools: [odd] }, { provider: 'anthropic.messages' });

    expect(prompt).toMatchObject([{}, { content: [{ input: { _filter: 'x', plain: 'y' } }] }, {}]);
    expect(input).toEqual({ $filter: 'x', plain: 'y' });
  });

  const toolCall = {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'odd',
    input: '{"_filter":"x","a_b":"y","plain":"z"}',
  };

  test.each([
    ['whole', false, { content: [toolCall] }],
    ['streamed', true, [toolCall, finish('v3', 'tool-calls')]],
  ])('gets calls with the tool’s own names: %s', async (_title, streamed, result) => {
    const { response } = await call(scriptedModel('v3', [result]), { tools: [odd] }, { streamed });

    expect(response?.content).toMatchObject([{ input: { $filter: 'x', 'a b': 'y', plain: 'z' } }]);
  });

  test('keeps the arguments of a tool that the provider defines', async () => {
    const providerTools = { odd: { id: 'anthropic.odd', args: {} } };
    await call(scriptedModel('v3', [{ content: [] }]), { tools: [odd] });
    const { response } = await call(
      scriptedModel('v3', [{ content: [toolCall] }]),
      { tools: [odd] },
      { providerTools },
    );

    expect(response?.content).toMatchObject([{ input: { _filter: 'x' } }]);
  });

  test('leaves out a tool with a name that its API refuses, and has more than 128 tools', async () => {
    const warn = silentConsole();
    const { names } = await sent(
      { tools: [...many(130), { ...odd, name: 'a.b' }] },
      { provider: 'anthropic.messages' },
    );

    expect(names).toHaveLength(130);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('Tool "a.b" is left out of requests to anthropic')]]);
  });
});

describe('a request to OpenAI', () => {
  test.each(['openai.responses', 'openai.chat', 'azure.responses', 'azure-openai.chat'])(
    'has at most 128 tools, those of the provider included, with one warning: %s',
    async (provider) => {
      const warn = silentConsole();
      const providerTools = { search: { id: 'openai.web_search', args: {} } };
      const tools = many(300).map((tool) => ({ ...tool, name: `${tool.name}_${provider.replaceAll('.', '_')}` }));

      expect((await sent({ tools }, { provider })).names).toEqual(tools.slice(0, 128).map(({ name }) => name));
      const { names } = await sent({ tools }, { provider }, { providerTools });

      expect(names).toHaveLength(128);
      expect(names.at(-1)).toBe('search');
      expect(warn).toHaveBeenCalledTimes(2);
      expect(warn.mock.calls[1]?.[0]).toContain(`Left out: ${tools[127]?.name}. Offer fewer`);
    },
  );

  test('keeps the names of arguments, and leaves out a tool with a name that its API refuses', async () => {
    const warn = silentConsole();
    const { names, properties } = await sent(
      { tools: [odd, { ...odd, name: 'x'.repeat(65) }] },
      { provider: 'openai.chat' },
    );

    expect(names).toEqual(['odd']);
    expect(properties).toContain('$filter');
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

test('a request to another provider has all tools with their own names', async () => {
  const { names, properties } = await sent({ tools: [odd, ...many(150)] }, { provider: 'groq.chat', modelId: 'llama' });

  expect(names).toHaveLength(151);
  expect(properties).toContain('$filter');
});
