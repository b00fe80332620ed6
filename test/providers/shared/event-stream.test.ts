import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DONE, readEvents } from '../../../src/providers/shared/event-stream.js';

async function eventsOf(text: string, ...cuts: readonly number[]): Promise<readonly unknown[]> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  async function* pieces() {
    for (const [at, end] of ends.entries()) yield bytes.subarray(ends[at - 1] ?? 0, end);
  }
  const events: unknown[] = [];
  for await (const event of readEvents(pieces(), 'openai')) if (event !== DONE) events.push(event);
  return events;
}

const one = '{"a":"Grüße, 四 \u2028"}';
const two = '{"b":[{}]}';
const parsed = [JSON.parse(one), JSON.parse(two)];

test.each([
  ['as the standard has it', `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\n`],
  ['without the space', `data:${one}\n\ndata:${two}\n\ndata:[DONE]\n\n`],
  ['with the line ends of Windows', `data: ${one}\r\n\r\ndata: ${two}\r\n\r\ndata: [DONE]\r\n\r\n`],
  ['with the line ends of old Macs', `data: ${one}\r\rdata: ${two}\r\rdata: [DONE]\r\r`],
  ['after a byte order mark', `\uFEFFdata: ${one}\n\ndata: ${two}\n\n`],
  ['with a name and an id each', `event: completion\nid: 1\ndata: ${one}\n\nid: 2\ndata: ${two}\n\n`],
  ['without [DONE]', `data: ${one}\n\ndata: ${two}\n\n`],
  ['without the end of the last', `data: ${one}\n\ndata: ${two}`],
  ['with nothing between them but a line end', `data: ${one}\ndata: ${two}\ndata: [DONE]\n`],
  ['over several lines', `data: {"a":\ndata: "Grüße, 四 \u2028"}\n\ndata: ${two}\n\n`],
  ['over several lines of Windows', `data: {"a":\r\ndata: "Grüße, 四 \u2028"}\r\n\r\ndata: ${two}\r\n\r\n`],
  ['among comments', `: PROCESSING\n\n:\ndata: ${one}\n\n: keep-alive\n\ndata: ${two}\n\n`],
  [
    'among keep-alives',
    `event: ping\ndata: ping\n\ndata:\n\ndata: ${one}\n\nretry: 3\n\nevent: ping\n\ndata: ${two}\n\n`,
  ],
  ['among JSON that is no object', `data: null\n\ndata: ${one}\n\ndata: 7\n\ndata: "x"\n\ndata: ${two}\n\n`],
  ['before what follows [DONE]', `data: ${one}\n\ndata: ${two}\n\ndata: [DONE]\n\ndata: {"half\n\ndata: {"c":1}\n\n`],
])('events are read %s, wherever the bytes are cut', async (_title, text) => {
  expect(await eventsOf(text)).toEqual(parsed);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 8 }), async (cuts) => {
      expect(await eventsOf(text, ...cuts)).toEqual(parsed);
    }),
  );
});

test.each([
  ['in the name of the event', 'event: error\ndata: {"message":"Died"}\n\n', { error: { message: 'Died' } }],
  ['in the name of an event that is a text', 'event: error\ndata: Died\n\n', { error: 'Died' }],
  ['in the name and in the data', 'event: error\ndata: {"error":{"code":5}}\n\n', { error: { code: 5 } }],
  ['as a field', 'error: {"code":500,"message":"Died"}\n\n', { error: { code: 500, message: 'Died' } }],
])('an error may stand %s', async (_title, text, event) => {
  expect(await eventsOf(`data: ${one}\n\n${text}`)).toEqual([parsed[0], event]);
});

test.each([
  ['JSON', '{\n  "data": 1\n}'],
  ['a page', '<html>\r\n<p>data: none</p>'],
  ['nothing', ''],
])('a body that is %s is given as its text', async (_title, text) => {
  expect((await eventsOf(text)).map((event) => String(event).trim())).toEqual([text.replace('\r', '')]);
});

test.each(['data: Internal Server Error\n\n', 'data: {"half":', 'data: {"a":1}}\ndata: {"b"\n\n'])(
  'an event that is no JSON rejects: %j',
  async (text) => {
    await expect(eventsOf(`data: ${one}\n\n${text}`)).rejects.toMatchObject({
      code: 'ERR_PROVIDER_FAILED',
      message: expect.stringContaining('no whole JSON'),
      retryable: true,
    });
  },
);

test('a long event in small pieces is put together in a time that grows with its length alone', async () => {
  const long = `data: {"a":"${'x'.repeat(2_000_000)}"}\n\n`;
  const cuts = Array.from({ length: 4000 }, (_, index) => index * 500);
  const started = performance.now();

  const [event] = await eventsOf(long, ...cuts);

  expect(event).toEqual({ a: 'x'.repeat(2_000_000) });
  expect(performance.now() - started).toBeLessThan(2000);
});
