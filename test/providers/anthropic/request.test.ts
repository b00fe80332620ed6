import { describe, expect, test } from 'vitest';
import type { ModelRequest, ModelSettings } from '../../../src/model/model.js';
import { sentBody } from '../../support/providers/anthropic-server.js';

const add = {
  name: 'add',
  description: 'Adds.',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { a: { type: 'number' } },
  },
};

/** Returns the request fields for these settings, without the fields of every request. */
async function settingsSent(settings: ModelSettings, modelId: string, request: Partial<ModelRequest> = {}) {
  const { model, messages, stream, system, tools, ...sent } = await sentBody({ ...request, settings }, modelId);
  return sent;
}

test('sends only the required fields without settings', async () => {
  expect(await sentBody({}, 'claude-opus-5')).toEqual({
    model: 'claude-opus-5',
    max_tokens: 32_000,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    stream: true,
  });
});

test.each([
  ['claude-3-haiku-20240307', 4096],
  ['anthropic.claude-3-5-sonnet-20241022-v2:0', 8192],
  ['claude-3-7-sonnet-latest', 32_000],
  ['claude-opus-4-20250514', 32_000],
  ['claude-mythos-preview', 32_000],
  ['MiniMax-M2', 8192],
])('sends %s a default of %i for max_tokens', async (modelId, tokens) => {
  expect(await settingsSent({}, modelId)).toEqual({ max_tokens: tokens });
  expect(await settingsSent({ maxOutputTokens: 99 }, modelId)).toEqual({ max_tokens: 99 });
});

describe('tools', () => {
  test('of the provider are sent beside the tools of the agent', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };

    const { tools } = await sentBody({
      tools: [add],
      settings: { providerOptions: { anthropic: { tools: [search] } } },
    });

    expect(tools).toMatchObject([{ name: 'add' }, search]);
  });
});

describe('sampling', () => {
  const both = { temperature: 0.5, topP: 0.9, stopSequences: ['END'], seed: 1 };

  test.each([
    ['claude-opus-4-20250514', { temperature: 0.5, top_p: 0.9 }],
    ['claude-sonnet-4-5', { temperature: 0.5 }],
    ['claude-opus-4-7', {}],
  ])('is sent to %s only in the fields that the model accepts', async (modelId, sent) => {
    expect(await settingsSent(both, modelId)).toEqual({ max_tokens: 32_000, stop_sequences: ['END'], ...sent });
  });

  test('is not sent together with thinking', async () => {
    const sent = await settingsSent({ ...both, reasoningEffort: 'low' }, 'claude-sonnet-4-6');

    expect(Object.keys(sent).sort()).toEqual(['max_tokens', 'output_config', 'stop_sequences', 'thinking']);
  });
});

describe('reasoning effort', () => {
  test.each([
    ['claude-opus-4-6', 'minimal', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['claude-fable-5', 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['claude-opus-4-7', 'none', {}],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-fable-5', 'none', { output_config: { effort: 'low' } }],
    ['claude-haiku-4-5', 'medium', { thinking: { type: 'enabled', budget_tokens: 10_000 } }],
    ['claude-haiku-4-5', 'none', {}],
    ['claude-3-5-haiku-latest', 'high', {}],
  ] as const)('for %s with the value %s', async (modelId, reasoningEffort, sent) => {
    const { max_tokens, ...rest } = await settingsSent({ reasoningEffort }, modelId);

    expect(rest).toEqual(sent);
  });

  test.each([
    [4000, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    [1500, {}],
  ])('uses at most half of %i tokens for thinking', async (maxOutputTokens, sent) => {
    const settings = { reasoningEffort: 'high', maxOutputTokens } as const;

    expect(await settingsSent(settings, 'claude-sonnet-4-5')).toEqual({ max_tokens: maxOutputTokens, ...sent });
  });

  test('is dropped if a tool call is required or thinking would begin in the middle of a turn', async () => {
    const settings = { reasoningEffort: 'high' } as const;
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'One and two?' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'add', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', name: 'add', content: '3' }] },
    ];

    const forced = await sentBody({ settings, tools: [add], toolChoice: 'required' }, 'claude-sonnet-4-5');
    const amid = await sentBody({ settings, tools: [add], messages }, 'claude-sonnet-4-5');
    const paused = { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] } as const;
    const goingOn = await sentBody({ settings, tools: [add], messages: [...messages, paused] }, 'claude-sonnet-4-5');

    expect([forced.thinking, amid.thinking, goingOn.thinking]).toEqual([undefined, undefined, undefined]);
  });
});

describe('an output schema', () => {
  const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };

  test('is sent with closed objects and with restrictions as descriptions', async () => {
    const list = { type: 'array', items: { $ref: '#/$defs/name' }, minItems: 2 };
    const schema = {
      ...sum,
      properties: {
        sum: { type: 'integer', minimum: 1, description: 'Sum' },
        list,
        kind: { oneOf: [{ const: 'a' }, { type: 'null' }] },
      },
      $defs: { name: { type: 'string', format: 'email' } },
    };

    expect(await settingsSent({}, 'claude-opus-5', { output: { schema } })).toMatchObject({
      output_config: {
        format: {
          schema: {
            type: 'object',
            additionalProperties: false,
            required: ['sum'],
            properties: {
              sum: { type: 'integer', description: 'Sum ({"minimum":1})' },
              list: { type: 'array', items: { type: 'string', format: 'email' }, description: '({"minItems":2})' },
              kind: { anyOf: [{ const: 'a' }, { type: 'null' }] },
            },
          },
        },
      },
    });
  });

  test.each([
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
    [
      'recursion',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } },
      },
    ],
    ['a property without a type', { type: 'object', properties: { a: {} } }],
    [
      'too many optional properties',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: 'string' }])),
      },
    ],
  ])('with %s becomes a prompt', async (_title, schema) => {
    const { system, output_config } = await sentBody({ output: { schema } }, 'claude-opus-5');

    expect(output_config).toBeUndefined();
    expect(system).toContain(JSON.stringify(schema));
  });

  test('becomes a prompt after the system prompt for a model without output formats', async () => {
    const messages: ModelRequest['messages'] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One and two?' },
    ];

    const { system } = await sentBody({ messages, output: { schema: sum } }, 'claude-3-7-sonnet-latest');

    expect(system).toMatch(/^Be brief\.\n\nAnswer with JSON/);
  });
});

test('sends provider options unchanged', async () => {
  const anthropic = { top_k: 5, cache_control: { type: 'ephemeral' }, max_tokens: 7, output_config: { effort: 'max' } };
  const output = { schema: { type: 'object', properties: {}, additionalProperties: false } };

  const sent = await settingsSent({ providerOptions: { anthropic, openai: { store: true } } }, 'claude-opus-5', {
    output,
  });

  expect(sent).toEqual({
    ...anthropic,
    output_config: { effort: 'max', format: { type: 'json_schema', schema: output.schema } },
  });
});
