// Runs a chat server in its own process: `node ui.mjs <URL of a build of keelson> <hand, or the URL of keelson/ui>`. The
// model pushes each delta in its own tick. `hand` is a route that writes the same chunks in a loop over the events.
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';

const DELTAS = 2_000;
const words = Array.from({ length: DELTAS }, (_, index) => `word ${index} `);
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** @type {import('keelson').Model} */
const model = {
  id: 'fake',
  async generate({ onPart }) {
    for (const text of words) {
      onPart?.({ type: 'text-delta', text });
      await setImmediate();
    }
    return { content: [{ type: 'text', text: words.join('') }], finishReason: 'stop', usage };
  },
};

const [core = '', side = ''] = process.argv.slice(2);
const { Agent } = await import(core);
/** @type {import('keelson').Agent} */
const agent = new Agent({ model });

/** @type {import('node:http').RequestListener} */
const byHand = async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { id } = JSON.parse(text);
  const session = await agent.session({ id });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (/** @type {object} */ chunk) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  send({ type: 'start' });
  for await (const event of session.stream('Hi')) {
    if (event.type === 'turn-start') {
      send({ type: 'start-step' });
      send({ type: 'text-start', id: '1' });
    } else if (event.type === 'text-delta') send({ type: 'text-delta', id: '1', delta: event.text });
    else if (event.type === 'model-end') send({ type: 'text-end', id: '1' });
    else if (event.type === 'run-end') send({ type: 'finish', finishReason: 'stop' });
  }
  response.end('data: [DONE]\n\n');
  await session.close();
};

async function listener() {
  if (side === 'hand') return byHand;
  const { createAgentHandler, toNodeListener } = await import(side);
  return toNodeListener(createAgentHandler(agent, { authorize: 'none', session: (/** @type {string} */ id) => id }));
}

const server = createServer(await listener());
server.listen(0, '127.0.0.1', () => {
  process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit(0));
