import { expect, test } from 'vitest';
import { StreamedMessage } from '../../../src/providers/anthropic/stream.js';
import { StreamedAnswer } from '../../../src/providers/openai/chat/stream.js';
import { StreamedResponse } from '../../../src/providers/openai/responses/response/stream.js';
import { growth } from '../../support/growth.js';

interface LongStream {
  take(event: unknown): void;
  whole(): unknown;
}

interface Case {
  readonly title: string;
  /** The number of deltas that take about a millisecond. */
  readonly deltas: number;
  readonly make: () => LongStream;
  /** The events before the deltas. */
  readonly before?: readonly object[];
  readonly delta: object;
  readonly end: object;
}

const chat = (title: string, delta: object, deltas = 1_000): Case => ({
  title: `chat completions, ${title}`,
  deltas,
  make: () => new StreamedAnswer(() => {}),
  delta: { choices: [{ index: 0, delta }] },
  end: { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
});

const anthropic = (title: string, block: object, delta: object): Case => ({
  title: `Anthropic, ${title}`,
  deltas: 2_000,
  make: () => new StreamedMessage(() => {}),
  before: [
    { type: 'message_start', message: { content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: block },
  ],
  delta: { type: 'content_block_delta', index: 0, delta },
  end: { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
});

const item = { type: 'function_call', call_id: 'c', name: 'n' };
const responses = (type: string): Case => ({
  title: `Responses, ${type}`,
  deltas: 2_000,
  make: () => new StreamedResponse(() => {}),
  before: [{ type: 'response.output_item.added', output_index: 0, item }],
  delta: { type, output_index: 0, delta: ' word' },
  end: { type: 'response.completed', response: { output: [] } },
});

test.each<Case>([
  chat('text', { content: ' word' }),
  chat('reasoning', { reasoning_content: ' word' }),
  chat('reasoning blocks', { reasoning_details: [{ type: 'reasoning.text', index: 0, text: ' word' }] }, 200),
  chat('arguments', { tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: ' "word"}' } }] }, 200),
  chat('objects in arguments', {
    tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: '{"a":{}},' } }],
  }),
  chat('citations', { annotations: [{ type: 'url_citation' }] }),
  anthropic('text', { type: 'text', text: '' }, { type: 'text_delta', text: ' word' }),
  anthropic('thinking', { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: ' word' }),
  anthropic(
    'input',
    { type: 'tool_use', id: 'c', name: 'n', input: {} },
    { type: 'input_json_delta', partial_json: ' word' },
  ),
  anthropic('citations', { type: 'text', text: '' }, { type: 'citations_delta', citation: { type: 'char_location' } }),
  responses('response.output_text.delta'),
  responses('response.function_call_arguments.delta'),
  responses('response.reasoning_summary_text.delta'),
])('deltas are assembled in linear time: $title', async ({ deltas, make, before = [], delta, end }) => {
  const assemble = (count: number) => () => {
    const stream = make();
    for (const event of before) stream.take(event);
    for (let sent = 0; sent < count; sent += 1) stream.take(delta);
    stream.take(end);
    stream.whole();
  };

  expect(await growth(deltas, assemble)).toBeLessThan(100);
});
