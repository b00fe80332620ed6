import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvents, type ServerSentEvent } from '../../../src/mcp/transport/http-response.js';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

async function eventsOf(text: string, cuts: readonly number[] = [], maxBytes = 1_000): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(chunksOf(new TextEncoder().encode(text), cuts), maxBytes)) events.push(event);
  return events;
}

const LINES = [
  ...[': a comment', 'id: 1', 'retry: 250', 'data: {"ä":', 'data:"€"}', ''],
  ...['event: endpoint', 'data: /messages', '', 'data', '', 'data: never ended'],
];

test('reads the same events for all splits into chunks and all line endings', async () => {
  const expected = [
    { name: 'message', data: '{"ä":\n"€"}', id: '1', retryMs: 250 },
    { name: 'endpoint', data: '/messages', id: undefined, retryMs: undefined },
    { name: 'message', data: '', id: undefined, retryMs: undefined },
  ];
  const length = Buffer.byteLength(LINES.join('\r\n'));
  const cuts = fc.uniqueArray(fc.integer({ min: 0, max: length }), { maxLength: 40 });

  await fc.assert(
    fc.asyncProperty(fc.constantFrom('\n', '\r', '\r\n'), cuts, async (end, at) => {
      expect(await eventsOf(LINES.join(end), at)).toEqual(expected);
    }),
  );
});

test('limits the size of one event, complete or not, but not that of many short events', async () => {
  const long = `data: ${'x'.repeat(100)}`;

  await expect(eventsOf(`${long}\n\n`, [], 100)).rejects.toMatchObject({ code: 'ERR_MCP_ANSWER_TOO_LONG' });
  await expect(eventsOf(long, [10, 50], 100)).rejects.toMatchObject({ code: 'ERR_MCP_ANSWER_TOO_LONG' });
  await expect(eventsOf('data: €€€€\n\n', [], 12)).rejects.toMatchObject({ code: 'ERR_MCP_ANSWER_TOO_LONG' });
  expect(await eventsOf('data: x\n\n'.repeat(100), [], 20)).toHaveLength(100);
});
