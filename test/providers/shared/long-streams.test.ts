import { expect, test } from 'vitest';
import { StreamedMessage } from '../../../src/providers/anthropic/stream.js';
import { StreamedAnswer } from '../../../src/providers/openai/chat/stream.js';
import { StreamedResponse } from '../../../src/providers/openai/responses/response/stream.js';

const DELTAS = 100_000;

interface LongStream {
  take(event: unknown): void;
  whole(): unknown;
}

interface Case {
  readonly title: string;
  readonly make: () => LongStream;
  /** The events before the deltas. */
  readonly before?: readonly object[];
  readonly delta: object;
  readonly end: object;
}

const chat = (title: string, delta: object): Case => ({
  title: `chat completions, ${title}`,
  make: () => new StreamedAnswer(() => {}),
  delta: { choices: [{ index: 0, delta }] },
  end: { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
});

const anthropic = (title: string, block: object, delta: object): Case => ({
  title: `Anthropic, ${title}`,
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
  make: () => new StreamedResponse(() => {}),
  before: [{ type: 'response.output_item.added', output_index: 0, item }],
  delta: { type, output_index: 0, delta: ' word' },
  end: { type: 'response.completed', response: { output: [] } },
});

test.each<Case>([
  chat('text', { content: ' word' }),
  chat('reasoning', { reasoning_content: ' word' }),
  chat('reasoning blocks', { reasoning_details: [{ type: 'reasoning.text', index: 0, text: ' word' }] }),
  chat('arguments', { tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: ' "word"}' } }] }),
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
])('100,000 deltas are assembled in linear time: $title', ({ make, before = [], delta, end }) => {
  const stream = make();
  const started = process.cpuUsage();
  for (const event of before) stream.take(event);
  for (let count = 0; count < DELTAS; count += 1) stream.take(delta);
  stream.take(end);
  stream.whole();

  // Quadratic assembly takes minutes.
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(5_000);
});
