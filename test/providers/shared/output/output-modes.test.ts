import type { JsonSchema } from 'keelson';
import { describe, expect, test } from 'vitest';
import type { ModelPart, ModelRequest, ModelResponse } from '../../../../src/model/model.js';
import { outputModeAt } from '../../../../src/providers/openai/output-modes.js';
import { ProviderError } from '../../../../src/providers/shared/error.js';
import { inObject, Unwrapping, unwrapped } from '../../../../src/providers/shared/output/object-root.js';
import { type OutputMode, StructuredOutput } from '../../../../src/providers/shared/output/output-mode.js';
import { rejectionOf } from '../../../support/agent/settle.js';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const says = (text: string): ModelResponse => ({ content: [{ type: 'text', text }], finishReason: 'stop', usage });
const calls = (...names: readonly string[]): ModelResponse => ({
  content: [
    { type: 'text', text: 'Let me see.' },
    ...names.map((name, at) => ({ type: 'tool-call' as const, id: `c${at}`, name, input: { n: 4 } })),
  ],
  finishReason: 'tool-calls',
  usage,
});
const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };
const refusal = (message: string, status = 400) => new ProviderError('openai', message, { status });

/** Asks with a script of responses. Returns the outcome and the requests. */
async function ask(mode: OutputMode, request: Partial<ModelRequest>, script: readonly (ModelResponse | Error)[]) {
  const requests: ModelRequest[] = [];
  const shown: string[] = [];
  const onPart = (part: ModelPart) => void shown.push(`${part.type}: ${part.text}`);
  const send = async (sent: ModelRequest) => {
    const step = script[requests.length];
    requests.push(sent);
    if (step instanceof Error || step === undefined) throw step;
    for (const part of step.content) {
      if (part.type === 'text') sent.onPart?.({ type: 'text-delta', text: part.text });
      if (part.type === 'tool-call')
        sent.onPart?.({ type: 'tool-input-delta', id: part.id, name: part.name, text: JSON.stringify(part.input) });
    }
    return step;
  };
  const full = {
    messages: [{ role: 'user', content: 'go' }],
    tools: [],
    output: { schema },
    onPart,
    ...request,
  } as const;
  const response = await new StructuredOutput(mode).ask(full as ModelRequest, send).catch((error: unknown) => error);
  return { response: response as ModelResponse, requests, shown };
}

describe('the mode `tool`', () => {
  test('gives the arguments of the call as the text of the answer', async () => {
    const { response, requests, shown } = await ask('tool', {}, [calls('final_answer')]);

    expect(requests[0]).toMatchObject({
      tools: [{ name: 'final_answer', inputSchema: schema }],
      toolChoice: { tool: 'final_answer' },
    });
    expect(requests[0]?.output).toBe(undefined);
    expect(response).toMatchObject({
      finishReason: 'stop',
      content: [{ commentary: true }, { type: 'text', text: '{"n":4}' }],
    });
    expect(shown).toEqual(['text-delta: {"n":4}']);
  });

  test('lets the model call the tools of the agent first, and drops an answer beside them', async () => {
    const { response, requests, shown } = await ask('tool', { tools: [look] }, [calls('look', 'final_answer')]);

    expect(requests[0]).toMatchObject({ tools: [look, { name: 'final_answer' }], toolChoice: 'required' });
    expect(response.content.map((part) => (part.type === 'tool-call' ? part.name : part.type))).toEqual([
      'text',
      'look',
    ]);
    expect(shown).toContain('tool-input-delta: {"n":4}');
  });

  test('finds another name if an agent has a tool of that name', async () => {
    const { requests } = await ask('tool', { tools: [{ ...look, name: 'final_answer' }] }, [calls('final_answer_')]);

    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['final_answer', 'final_answer_']);
  });

  test('keeps an answer that the model wrote', async () => {
    const { response, shown } = await ask('tool', {}, [says('{"n":5}')]);

    expect(response).toMatchObject({ content: [{ text: '{"n":5}' }] });
    expect(shown).toEqual(['text-delta: {"n":5}']);
  });
});

describe('the mode `after-tools`', () => {
  test('asks for the answer in the schema, without tools, and counts both requests', async () => {
    const { response, requests, shown } = await ask('after-tools', { tools: [look] }, [
      says('It is four.'),
      says('{"n":4}'),
    ]);

    expect(requests.map(({ tools, output }) => [tools.length, output !== undefined])).toEqual([
      [1, false],
      [0, true],
    ]);
    expect(requests[1]?.messages.at(-1)?.content).toMatch(/^Give this answer again.*JSON Schema/s);
    expect(response).toMatchObject({ content: [{ text: '{"n":4}' }], usage: { totalTokens: 30, contextTokens: 15 } });
    expect(shown).toEqual(['text-delta: {"n":4}']);
  });

  test.each([
    ['calls a tool', calls('look')],
    ['answers with JSON', says('{"n":4}')],
    ['is cut off', { ...says('It is'), finishReason: 'length' as const }],
    ['refuses', { ...says('No.'), finishReason: 'content-filter' as const }],
    ['says nothing', says('')],
  ])('makes no other request if the model %s', async (_title, first) => {
    const { response, requests } = await ask('after-tools', { tools: [look] }, [first]);

    expect([response, requests.length]).toEqual([first, 1]);
  });
});

describe('a refusal', () => {
  test.each([
    ['json mode cannot be combined with tool/function calling', 400],
    ['Cannot use custom grammar constraints with tools.', 400],
    ["Function calling with a response mime type: 'application/json' is unsupported", 400],
    ['"tools" is incompatible with "response_format"', 422],
  ])('that says %j leads to the mode after-tools, which is kept', async (message, status) => {
    const structured = new StructuredOutput('native');
    const seen: string[] = [];
    const send = async ({ tools, output }: ModelRequest) => {
      seen.push(`${tools.length} ${output !== undefined}`);
      if (tools.length > 0 && output !== undefined) throw refusal(message, status);
      return says(output ? '{"n":4}' : 'Four.');
    };
    const request = { messages: [], tools: [look], output: { schema } };

    await structured.ask(request, send);
    await structured.ask(request, send);

    expect(seen).toEqual(['1 true', '1 false', '0 true', '1 false', '0 true']);
  });

  test.each([
    ["Invalid schema for response_format 'output'", 400],
    ['The model does not exist.', 404],
    ['response_format failed', 500],
    ['maximum context length is 10 tokens', 400],
  ])('that says %j is thrown', async (message, status) => {
    const { response, requests } = await ask('native', { tools: [look] }, [refusal(message, status)]);

    expect(response).toMatchObject({ code: 'ERR_PROVIDER_FAILED', message });
    expect(requests).toHaveLength(1);
  });

  test('of a schema, of a tool and of words is thrown', async () => {
    const no = refusal('response_format and tools are unavailable');

    expect((await ask('native', {}, [no, no, no])).requests).toHaveLength(3);
    await expect(
      rejectionOf(
        new StructuredOutput('native').ask({ messages: [], tools: [], output: { schema } }, () => Promise.reject(no)),
      ),
    ).resolves.toBe(no);
  });
});

test.each<[string | undefined, string, OutputMode]>([
  [undefined, 'gpt-5', 'native'],
  ['https://my.openai.azure.com/openai/v1', 'x', 'native'],
  ['https://api.x.ai/v1', 'grok-4', 'native'],
  ['https://openrouter.ai/api/v1', 'anthropic/claude-sonnet-5', 'native'],
  ['https://openrouter.ai/api/v1', 'meta/llama', 'after-tools'],
  ['https://api.deepseek.com', 'deepseek-chat', 'tool'],
  ['https://api.groq.com/openai/v1', 'llama', 'after-tools'],
  ['http://localhost:11434/v1', 'llama', 'after-tools'],
])('the mode at %s for %s is %s', (baseURL, model, mode) => {
  expect(outputModeAt(baseURL, model)).toBe(mode);
});

describe('a schema whose root is not an object', () => {
  test('becomes a member of an object, and its references keep their targets', () => {
    const tree: JsonSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'array',
      items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/leaf' }, { $ref: '#/items/anyOf/0' }] },
      $defs: { leaf: { type: 'string' } },
    };

    expect(inObject(tree)).toEqual({
      $schema: tree.$schema,
      type: 'object',
      properties: {
        value: {
          type: 'array',
          items: {
            anyOf: [
              { $ref: '#/properties/value' },
              { $ref: '#/$defs/leaf' },
              { $ref: '#/properties/value/items/anyOf/0' },
            ],
          },
        },
      },
      required: ['value'],
      additionalProperties: false,
      $defs: { leaf: { type: 'string' } },
    });
  });

  test.each([
    ['{"value":[1,2]}', '[1,2]'],
    [' {\n "value" : "yes" }\n', ' "yes"\n'],
    ['Sure:\n```json\n{"value": {"a": {}}}\n```', 'Sure:\n```json\n{"a": {}}\n```'],
    ['[1,2]', '[1,2]'],
    ['{"value":1,"more":2}', '{"value":1,"more":2}'],
    ['{"value":[1,', '{"value":[1,'],
  ])('is read from %j', (answer, text) => {
    expect(unwrapped(answer)).toBe(text);
  });

  test.each([
    [['{"value":[1,', '2]}'], '[1,2]'],
    [['{', '"val', 'ue"', ': ', '{"a":{', '}', '}', '}', '\n'], '{"a":{}}'],
    [['[1', ',2]'], '[1,2]'],
    [['Sure ', '{"value":1}'], 'Sure {"value":1}'],
    [['{"values":', '[1]}'], '{"values":[1]}'],
  ])('is shown from the deltas %j', (deltas, text) => {
    const unwrapping = new Unwrapping();

    expect(deltas.map((delta) => unwrapping.take(delta)).join('')).toBe(text);
  });
});
