// The model and the MCP server that each place talks to. A story waits until the check releases its end.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** The pattern of the first tool is checked in a worker. The second tool has a schema with its own `$id`. */
const TOOLS = [
  {
    name: 'weigh',
    description: 'Weighs a crate.',
    inputSchema: { type: 'object', properties: { crate: { type: 'string' } } },
    outputSchema: {
      type: 'object',
      properties: { crate: { type: 'string', maxLength: 10, pattern: '^(?:[A-Z]{2}-)?[0-9]+$' } },
    },
  },
  {
    name: 'book',
    description: 'Books a berth.',
    inputSchema: {
      type: 'object',
      properties: { berth: { $ref: '#/$defs/berth' } },
      $defs: { berth: { $id: 'https://harbour.test/berth', type: 'string' } },
    },
  },
];

/**
 * A story that the model tells.
 * @typedef {{ release(): void, isReleased: Promise<void>, end(): void, isEnded: Promise<void> }} Story
 */

/** @typedef {Awaited<ReturnType<typeof startServices>>} Services */

/** Starts both servers on one port. */
export async function startServices() {
  /** @type {Map<string, Story>} */
  const stories = new Map();
  /** @type {Set<string>} */
  const offered = new Set();
  const server = createServer(async (request, response) => {
    if (request.url === '/mcp') return answerMcp(request, response);
    const body = JSON.parse(await text(request));
    for (const tool of body.tools ?? []) offered.add(tool.function.name);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await answer(body.messages, response, story);
  });
  /** @param {string} name */
  function story(name) {
    const known = stories.get(name) ?? createStory();
    stories.set(name, known);
    return known;
  }
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, story, offered, close };
}

/** @returns {Story} */
function createStory() {
  let release = () => {};
  let end = () => {};
  /** @type {Promise<void>} */
  const isReleased = new Promise((resolve) => {
    release = resolve;
  });
  /** @type {Promise<void>} */
  const isEnded = new Promise((resolve) => {
    end = resolve;
  });
  return { release, isReleased, end, isEnded };
}

/**
 * Answers in the chat completions of OpenAI.
 * @param {{ role: string, content: unknown }[]} messages
 * @param {import('node:http').ServerResponse} response
 * @param {(name: string) => Story} storyOf
 */
async function answer(messages, response, storyOf) {
  const asked = String(messages.findLast(({ role }) => role === 'user')?.content);
  const last = messages.at(-1);
  const [verb, name = ''] = asked.split(' ');
  if (last?.role === 'tool') say(response, `The tool says: ${last.content}`);
  else if (verb === 'Weigh') call(response, 'weigh', { crate: name });
  else if (verb === 'Book') call(response, 'book', { berth: name });
  else if (verb === 'Tell') await tell(response, storyOf(name));
  else say(response, `You said: ${asked}`);
  send(response, {
    finish_reason: last?.role !== 'tool' && (verb === 'Weigh' || verb === 'Book') ? 'tool_calls' : 'stop',
    delta: {},
  });
  response.end('data: [DONE]\n\n');
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {Story} story
 */
async function tell(response, story) {
  const closed = once(response, 'close');
  say(response, 'Once upon a time. ');
  await Promise.race([story.isReleased, closed]);
  say(response, 'The end.');
  void closed.then(story.end);
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} content
 */
function say(response, content) {
  send(response, { delta: { role: 'assistant', content } });
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} tool
 * @param {object} input
 */
function call(response, tool, input) {
  const made = { name: `mcp__harbour__${tool}`, arguments: JSON.stringify(input) };
  send(response, {
    delta: { role: 'assistant', tool_calls: [{ index: 0, id: 'c1', type: 'function', function: made }] },
  });
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {object} choice
 */
function send(response, choice) {
  const chunk = {
    id: 'r1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, ...choice }],
  };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answerMcp(request, response) {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const server = new Server({ name: 'harbour', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => resultOf(params));
  const transport = new StreamableHTTPServerTransport({});
  await server.connect(/** @type {import('@modelcontextprotocol/sdk/shared/transport.js').Transport} */ (transport));
  await transport.handleRequest(request, response);
}

/** @param {{ name: string, arguments?: Record<string, unknown> | undefined }} call */
function resultOf({ name, arguments: { crate, berth } = {} }) {
  if (name === 'book') return { content: [{ type: 'text', text: `Berth ${berth} is booked.` }] };
  return { content: [{ type: 'text', text: `${crate} weighs 40 kg.` }], structuredContent: { crate, quay: 'Q7' } };
}
