import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DONE, EventReader } from '../../../src/providers/shared/event-reader.js';
import { growth } from '../../support/growth.js';

async function eventsOf(text: string, ...cuts: readonly number[]): Promise<readonly unknown[]> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const events: unknown[] = [];
  const reader = new EventReader({ provider: 'openai' }, (event) => {
    if (event !== DONE) events.push(event);
  });
  for (const [at, end] of ends.entries()) reader.push(bytes.subarray(ends[at - 1] ?? 0, end));
  reader.end();
  return events;
}

const one = '{"a":"Grüße, 四 \u2028"}';
const two = '{"b":[{}]}';
const parsed = [JSON.parse(one), JSON.parse(two)];

test.each([
  ['in the standard format', `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\n`],
  ['without the space', `data:${one}\n\ndata:${two}\n\ndata:[DONE]\n\n`],
  ['with CRLF line ends', `data: ${one}\r\n\r\ndata: ${two}\r\n\r\ndata: [DONE]\r\n\r\n`],
  ['with CR line ends', `data: ${one}\r\rdata: ${two}\r\rdata: [DONE]\r\r`],
  ['after a byte order mark', `\uFEFFdata: ${one}\n\ndata: ${two}\n\n`],
  ['with event names and ids', `event: completion\nid: 1\ndata: ${one}\n\nid: 2\ndata: ${two}\n\n`],
  ['without [DONE]', `data: ${one}\n\ndata: ${two}\n\n`],
  ['without an empty line at the end', `data: ${one}\n\ndata: ${two}`],
  ['without empty lines between them', `data: ${one}\ndata: ${two}\ndata: [DONE]\n`],
  ['over several lines', `data: {"a":\ndata: "Grüße, 四 \u2028"}\n\ndata: ${two}\n\n`],
  ['over several lines with CRLF', `data: {"a":\r\ndata: "Grüße, 四 \u2028"}\r\n\r\ndata: ${two}\r\n\r\n`],
  ['among comments', `: PROCESSING\n\n:\ndata: ${one}\n\n: keep-alive\n\ndata: ${two}\n\n`],
  [
    'among keep-alives',
    `event: ping\ndata: ping\n\ndata:\n\ndata: ${one}\n\nretry: 3\n\nevent: ping\n\ndata: ${two}\n\n`,
  ],
  ['among JSON values that are not objects', `data: null\n\ndata: ${one}\n\ndata: 7\n\ndata: "x"\n\ndata: ${two}\n\n`],
  ['before events after [DONE]', `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\ndata: {"half\n\ndata: {"c":1}\n\n`],
])('reads events %s, for any split of the bytes', async (_title, text) => {
  expect(await eventsOf(text)).toEqual(parsed);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 8 }), async (cuts) => {
      expect(await eventsOf(text, ...cuts)).toEqual(parsed);
    }),
  );
});

test.each([
  ['in the event name', 'event: error\ndata: {"message":"Died"}\n\n', { error: { message: 'Died' } }],
  ['in the name of an event with plain text', 'event: error\ndata: Died\n\n', { error: 'Died' }],
  ['in the name and in the data', 'event: error\ndata: {"error":{"code":5}}\n\n', { error: { code: 5 } }],
  ['as a field', 'error: {"code":500,"message":"Died"}\n\n', { error: { code: 500, message: 'Died' } }],
])('reads an error %s', async (_title, text, event) => {
  expect(await eventsOf(`data: ${one}\n\n${text}`)).toEqual([parsed[0], event]);
});

test.each([
  ['JSON', '{\n  "data": 1\n}'],
  ['an HTML page', '<html>\r\n<p>data: none</p>'],
  ['an empty string', ''],
])('yields a body of %s as a string', async (_title, text) => {
  expect((await eventsOf(text)).map((event) => String(event).trim())).toEqual([text.replace('\r', '')]);
});

test.each(['data: Internal Server Error\n\n', 'data: {"half":', 'data: {"a":1}}\ndata: {"b"\n\n'])(
  'rejects an event that is not JSON: %j',
  async (text) => {
    await expect(eventsOf(`data: ${one}\n\n${text}`)).rejects.toMatchObject({
      code: 'ERR_PROVIDER_FAILED',
      message: expect.stringContaining('expected JSON in each event of the stream'),
      retryable: true,
    });
  },
);

test('assembles a long event from small pieces in linear time', async () => {
  const assemble = (pieces: number) => {
    const a = 'x'.repeat(500 * pieces);
    const cuts = Array.from({ length: pieces }, (_, index) => index * 500);
    return async () => expect((await eventsOf(`data: {"a":"${a}"}\n\n`, ...cuts))[0]).toEqual({ a });
  };

  expect(await growth(200, assemble)).toBeLessThan(100);
});
