// Answers a wave of clients at once: `node chat-wave.mjs <URL of a build of keelson> <side> <URL of Redis>`. The sides are `ai`,
// a route of the AI SDK, and `createAgentHandler` without a run log (`none`) or with one (`memory`, `redis`). A client sends a
// web request and reads the whole response. The model pushes each delta in its own tick.
import { setImmediate } from 'node:timers/promises';

const DELTAS = 200;
/** All clients at once keep the process busy, so that it reads late what Redis has answered. */
const REDIS_MS = 60_000;
const words = Array.from({ length: DELTAS }, (_, index) => `word ${index} `);

const [core = '', side = '', redisUrl = ''] = process.argv.slice(2);
/** @param {string} name */
const entry = (name) => import(core.replace(/index\.js$/, `${name}.js`));

/** @typedef {(request: Request) => Promise<Response>} Route */

/** @returns {Promise<Route>} */
async function aiRoute() {
  const { convertToModelMessages, streamText } = await import('ai');
  const inputTokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
  const usage = { inputTokens, outputTokens: { total: 1, text: 1, reasoning: undefined } };

  /** @type {Exclude<import('ai').LanguageModel, string>} */
  const model = {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new TypeError('the answer is streamed')),
    async doStream() {
      let next = 0;
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          controller.enqueue({ type: 'text-start', id: '1' });
        },
        async pull(controller) {
          await setImmediate();
          const delta = words[next++];
          if (delta !== undefined) return controller.enqueue({ type: 'text-delta', id: '1', delta });
          controller.enqueue({ type: 'text-end', id: '1' });
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage });
          controller.close();
        },
      });
      return { stream };
    },
  };

  return async (request) => {
    const { messages } = /** @type {{ messages: [] }} */ (await request.json());
    return streamText({ model, messages: await convertToModelMessages(messages) }).toUIMessageStreamResponse();
  };
}

/** @returns {Promise<Route>} */
async function ourRoute() {
  /** @type {typeof import('../../src/index.js')} */
  const { Agent } = await import(core);
  /** @type {typeof import('../../src/ui/ui.js')} */
  const { createAgentHandler } = await entry('ui');
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

  /** @type {import('keelson').Model} */
  const model = {
    id: 'fake',
    async generate({ onPart }) {
      for (const text of words) {
        await setImmediate();
        onPart?.({ type: 'text-delta', text });
      }
      return { content: [{ type: 'text', text: words.join('') }], finishReason: 'stop', usage };
    },
  };
  // A run whose log fails goes on without it, which would cost less.
  const fail = (/** @type {string} */ message) => {
    console.error(message);
    process.exit(1);
  };
  const logger = { debug() {}, info() {}, warn: fail, error: fail };
  return createAgentHandler(new Agent({ model, logger }), {
    authorize: () => 'ada',
    session: (id) => id,
    onDisconnect: side === 'none' ? 'abort' : 'continue',
    ...(side === 'redis' && { runLog: await redisLog() }),
  });
}

async function redisLog() {
  const { createClient } = await import('@redis/client');
  /** @type {typeof import('../../src/stores/redis/redis.js')} */
  const { RedisRunLog } = await entry('redis');
  const client = await createClient({ url: redisUrl, commandOptions: { timeout: REDIS_MS } }).connect();
  return new RedisRunLog({ client, timeoutMs: REDIS_MS });
}

const route = side === 'ai' ? await aiRoute() : await ourRoute();

/** Fails unless the client got all deltas. Waiting deltas may be joined. */
async function client() {
  const messages = [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ id: crypto.randomUUID(), messages });
  const response = await route(new Request('http://localhost/chat', { method: 'POST', headers, body }));
  const text = await response.text();
  const written = text.match(/word \d+ /g)?.length;
  if (written !== DELTAS) throw new TypeError(`The answer must have ${DELTAS} words, got ${written}: ${text}`);
}

process.on('message', async (order) => {
  const { clients } = /** @type {{ clients: number }} */ (order);
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: clients }, client));
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpu: (user + system) / (clients * DELTAS), memory: process.resourceUsage().maxRSS / 1000 });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
