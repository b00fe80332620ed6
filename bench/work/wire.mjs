// Runs both sides of the race of a streamed response in one process: `node wire.mjs <folder of the build> <api>`. A
// server in a process of its own sends the same text deltas over loopback. A block is one response by each side, with
// the CPU time of this process per delta.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const DELTAS = 5_000;
const [folder = '', api = ''] = process.argv.slice(2);

/** @param {Readonly<Record<string, unknown>>} data */
const event = (data) => `${data.type ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

/** The events of one response, as the services send them. */
const streams = {
  responses() {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const head = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'm', output: [] };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const text = ' word'.repeat(DELTAS);
    const done = { ...message, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const delta = { delta: ' word', logprobs: [], obfuscation: 'abcdefgh' };
    return [
      event({ type: 'response.created', response: head }),
      event({ type: 'response.output_item.added', output_index: 0, item: message }),
      ...Array(DELTAS).fill(event({ type: 'response.output_text.delta', sequence_number: 9, ...place, ...delta })),
      event({ type: 'response.output_text.done', ...place, text }),
      event({ type: 'response.output_item.done', output_index: 0, item: done }),
      event({ type: 'response.completed', response: { ...head, status: 'completed', output: [done], usage } }),
    ];
  },
  chat() {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', service_tier: 'default' };
    const choice = { index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: null };
    return [
      ...Array(DELTAS).fill(event({ ...head, choices: [choice], obfuscation: 'abcdefgh' })),
      event({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ];
  },
  messages() {
    const message = { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', stop_reason: null };
    const delta = { type: 'text_delta', text: ' word' };
    return [
      event({ type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...Array(DELTAS).fill(event({ type: 'content_block_delta', index: 0, delta })),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
      event({ type: 'message_stop' }),
    ];
  },
};

function serve() {
  const events = streams[/** @type {keyof typeof streams} */ (api)]();
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let at = 0;
    const next = () => {
      const piece = events.slice(at, at + 20).join('');
      at += 20;
      if (piece === '') response.end();
      else if (response.write(piece)) setImmediate(next);
      else response.once('drain', next);
    };
    next();
  });
  server.listen(0, '127.0.0.1', () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.send?.(address.port);
  });
}

/** @param {number} port */
async function sidesAt(port) {
  const root = `http://127.0.0.1:${port}`;
  const baseURL = `${root}/v1`;
  const messages = [{ role: 'user', content: 'x' }];
  /** @param {{ generate(request: object): Promise<unknown> }} model */
  const keelson = (model) => async () => {
    let heard = 0;
    await model.generate({ messages, tools: [], onPart: () => void heard++ });
    return heard;
  };
  if (api === 'messages') {
    const [{ anthropic }, { default: Anthropic }] = await Promise.all([
      import(`${folder}/anthropic.js`),
      import('@anthropic-ai/sdk'),
    ]);
    const client = new Anthropic({ apiKey: 'k', baseURL: root });
    const body = { model: 'm', max_tokens: 1, messages: [], stream: /** @type {const} */ (true) };
    const official = () => count(client.messages.create(body), ({ type }) => type === 'content_block_delta');
    return [official, keelson(anthropic('m', { baseURL: root, apiKey: 'k' }))];
  }
  const [{ openai }, { default: OpenAI }] = await Promise.all([import(`${folder}/openai.js`), import('openai')]);
  const client = new OpenAI({ apiKey: 'k', baseURL });
  const stream = /** @type {const} */ (true);
  const official =
    api === 'chat'
      ? () =>
          count(client.chat.completions.create({ model: 'm', messages: [], stream }), ({ choices }) =>
            Boolean(choices[0]?.delta.content),
          )
      : () =>
          count(client.responses.create({ model: 'm', input: 'x', stream }), ({ type }) =>
            type.endsWith('output_text.delta'),
          );
  return [official, keelson(openai('gpt-5', { baseURL, apiKey: 'k', api }))];
}

/**
 * @template Event
 * @param {PromiseLike<AsyncIterable<Event>>} opening
 * @param {(event: Event) => boolean} isDelta
 */
async function count(opening, isDelta) {
  let heard = 0;
  for await (const each of await opening) if (isDelta(each)) heard++;
  return heard;
}

/** @param {() => Promise<number>} side */
async function cpuOf(side) {
  const before = process.cpuUsage();
  const heard = await side();
  const { user, system } = process.cpuUsage(before);
  if (heard !== DELTAS) throw new Error(`A response must have ${DELTAS} deltas, got ${heard}`);
  return (user + system) / DELTAS;
}

async function race() {
  const server = fork(fileURLToPath(import.meta.url), [folder, api, 'serve']);
  const [port] = await once(server, 'message');
  const sides = await sidesAt(port);
  for (const side of [...sides, ...sides, ...sides]) await cpuOf(side);
  process.on('message', async (/** @type {number[]} */ order) => {
    /** @type {number[]} */
    const times = [];
    for (const at of order) times[at] = await cpuOf(/** @type {() => Promise<number>} */ (sides[at]));
    process.send?.(times);
  });
  process.on('disconnect', () => {
    server.kill();
    process.exit(0);
  });
  process.send?.('ready');
}

if (process.argv[4] === 'serve') serve();
else await race();
