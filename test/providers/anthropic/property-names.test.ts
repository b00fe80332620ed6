import { describe, expect, test } from 'vitest';
import type { ModelRequest, ModelResponse, ToolSpec } from '../../../src/model/model.js';
import { withOwnArguments } from '../../../src/providers/anthropic/property-names.js';
import { toWireRequest } from '../../../src/providers/anthropic/request.js';

const string = { type: 'string' };
const odd = {
  name: 'find',
  description: 'Finds.',
  inputSchema: {
    type: 'object' as const,
    properties: { $filter: string, _filter: string, 'filter[name]': string, plain: string, ['x'.repeat(70)]: string },
    required: ['$filter', 'plain'],
  },
};
const own = { $filter: 'a', _filter: 'b', 'filter[name]': 'c', plain: 'd', ['x'.repeat(70)]: 'e' };
const wire = { _filter_2: 'a', _filter: 'b', filter_name_: 'c', plain: 'd', ['x'.repeat(64)]: 'e' };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

interface Sent {
  readonly tools: readonly { readonly input_schema: { readonly properties: object; readonly required: unknown } }[];
  readonly messages: readonly { readonly content: readonly { readonly input?: unknown }[] }[];
}

function sent(messages: ModelRequest['messages'], tools: readonly ToolSpec[] = [odd]): Sent {
  return toWireRequest({ messages, tools }, 'claude-sonnet-5') as unknown as Sent;
}

describe('property names that Anthropic refuses', () => {
  test('are renamed in the schema, each to a different name', () => {
    const [tool] = sent([{ role: 'user', content: 'Hi' }]).tools;

    expect(Object.keys(tool?.input_schema.properties ?? {}).sort()).toEqual(Object.keys(wire).sort());
    expect(tool?.input_schema.required).toEqual(['_filter_2', 'plain']);
  });

  test('are renamed in earlier calls, and back in the calls of a response', () => {
    const call = { type: 'tool-call' as const, id: '1', name: 'find', input: own };
    const { messages } = sent([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [{ type: 'tool-result', id: '1', name: 'find', content: 'ok' }] },
    ]);
    const response: ModelResponse = { content: [{ ...call, input: wire }], finishReason: 'tool-calls', usage };

    expect(messages[1]?.content[0]?.input).toEqual(wire);
    expect(withOwnArguments(response, [odd]).content).toEqual([call]);
  });

  test('a tool with accepted names stays as it is', () => {
    const plain = { ...odd, inputSchema: { type: 'object' as const, properties: { a: string } } };
    const [tool] = sent([{ role: 'user', content: 'Hi' }], [plain]).tools;

    expect(tool?.input_schema).toEqual(plain.inputSchema);
  });
});
