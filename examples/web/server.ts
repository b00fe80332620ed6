// npm run demo:web: a chat on a web page. The model is a script, unless OPENAI_API_KEY is set.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Agent,
  type AgentLifecycle,
  defineTool,
  HookAction,
  type Model,
  type ModelRequest,
  type ModelResponse,
  SessionLostError,
  textOf,
} from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval, compaction, retryModelCalls } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import { createAgentHandler, toNodeListener } from 'keelson/ui';
import { z } from 'zod';

const folder = fileURLToPath(new URL('.', import.meta.url));
const { PORT = '3000', SESSIONS = join(folder, 'sessions'), WORD_MS = '25' } = process.env;
const { OPENAI_API_KEY, OPENAI_MODEL = 'gpt-5-mini' } = process.env;

const LOST = 'The server was restarted during this answer. Ask again.';
const POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'";
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: async ({ city }, { progress }) => {
    progress({ asking: city });
    await setTimeout(Number(WORD_MS) * 50);
    return { city, sky: 'clear', celsius: 14 };
  },
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ euro: z.number(), to: z.string() }),
  execute: ({ euro, to }) => `Paid ${euro} euro to ${to}.`,
});

const inspect = defineTool({
  name: 'inspect',
  description: 'Inspects the harbour. It takes a while.',
  input: z.object({}),
  execute: (_input, { run }) =>
    run.background((signal) => setTimeout(Number(WORD_MS) * 100, 'All lights work.', { signal }), {
      label: 'Inspect the harbour',
    }),
});
/** The page runs this tool. */
const screen = defineTool({
  name: 'screen',
  description: 'Returns the size of the window of the person, in pixels.',
  input: z.object({}),
});

/** A person reads each letter before it becomes the answer. */
const readLetters: AgentLifecycle = {
  name: 'read-letters',
  afterModel: ({ content }) =>
    content.some((part) => part.type === 'text' && part.text.startsWith('Dear '))
      ? HookAction.suspend('Read the letter first.')
      : undefined,
};

const model = OPENAI_API_KEY ? openai(OPENAI_MODEL, { apiKey: OPENAI_API_KEY }) : script();
const lookout = new Agent({ name: 'lookout', model, tools: [weather] });
const pilot = new Agent({
  name: 'pilot',
  model,
  tools: [pay, lookout.asTool({ description: 'Looks at the sky.' })],
  lifecycle: [approval({ tools: ['pay'] })],
});

const agent = new Agent({
  store: new FileSessionStore({ folder: SESSIONS }),
  model,
  tools: [weather, pay, inspect, screen, pilot.asTool({ description: 'Brings ships into the harbour.' })],
  lifecycle: [
    approval({ tools: ['pay'] }),
    readLetters,
    retryModelCalls({ maxRetries: 2 }),
    // The limit is low, so that a chat of this demonstration reaches it.
    compaction({ maxMessages: 20, keep: 1 }),
  ],
});

// Everybody on this machine may use every chat, and guests may not decide. An application checks who sends the request.
const handler = createAgentHandler(agent, {
  authorize: (request) => ({ isGuest: request.headers.has('x-guest') }),
  hosts: ['localhost', '127.0.0.1'],
  session: (chatId) => chatId,
  mayDecide: ({ isGuest }) => !isGuest,
  // The messages of errors may contain data of the server, so the page gets words of our own.
  errorText: (error) => (error instanceof SessionLostError ? LOST : 'The answer failed.'),
});
const listener = toNodeListener(handler);
const files = readPage(join(folder, 'dist'));

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path.startsWith('/api/')) return void listener(request, response);
  const file = files.get(path === '/' ? '/index.html' : path);
  if (file === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': file.type, 'content-security-policy': POLICY }).end(file.bytes);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as { readonly port: number };
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, shutDown);

/** Stops the answers that run. The sessions keep what was said, and the pages wait for the next server. */
async function shutDown(): Promise<void> {
  server.close();
  // A connection that still gets the end of an answer is closed behind it.
  server.keepAliveTimeout = 1;
  await agent.close();
}

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Reads the built page into memory, so that a request cannot name another file. */
function readPage(folder: string): ReadonlyMap<string, PageFile> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      return [path.slice(folder.length), { type, bytes: readFileSync(path) }];
    }),
  );
}

/** A model without a key. It shows each feature of the page. */
function script(): Model {
  const failed = new Set<number>();
  return {
    id: 'script',
    async generate(request): Promise<ModelResponse> {
      const { messages } = request;
      const user = messages.findLast(({ role }) => role === 'user');
      const asked = user === undefined ? '' : textOf(user);
      if (asked.startsWith('<conversation>')) return say(request, summaryOf(asked));
      const result = messages.at(-1);
      if (result?.role === 'tool') return say(request, `The tool says: ${textOf(result)}`);
      const [, helper, task] = /^Ask the (pilot|lookout)[:,]? (.*)/i.exec(asked) ?? [];
      if (helper !== undefined) return callTool(request, helper, { prompt: task });
      if (/weather/i.test(asked)) return callTool(request, 'weather', { city: /in (\w+)/.exec(asked)?.[1] ?? 'Oslo' });
      if (/pay/i.test(asked)) {
        return callTool(request, 'pay', { euro: Number(/\d+/.exec(asked)?.[0] ?? 40), to: 'the harbour' });
      }
      if (asked.startsWith('The background work'))
        return say(request, asked.replace(/^.*?: /, 'The inspection says: '));
      if (/inspect/i.test(asked)) return callTool(request, 'inspect', {});
      if (/window/i.test(asked)) return callTool(request, 'screen', {});
      if (/fail/i.test(asked) && !failed.has(messages.length)) {
        failed.add(messages.length);
        await say(request, 'This answer breaks off');
        throw Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: Number(WORD_MS) * 100 });
      }
      if (/letter/i.test(asked)) return say(request, 'Dear harbour master, the ship arrives at noon.');
      if (/story/i.test(asked)) return say(request, storyOf(Number(/of (\d+)/.exec(asked)?.[1] ?? 200)));
      const picture = Array.isArray(user?.content) && user.content.find(({ type }) => type === 'image');
      if (picture) return say(request, `I see a picture of type ${picture.mediaType}.`);
      return say(request, `You said: ${asked}`);
    },
  };
}

function storyOf(ships: number): string {
  return Array.from({ length: ships }, (_, index) => `Ship ${index + 1} left the harbour. `).join('');
}

/** The summary that `compaction` asks the model for. */
function summaryOf(transcript: string): string {
  const questions = [...transcript.matchAll(/^user: (.*)$/gm)].map(([, question]) => question);
  return `The person said: ${questions.join(', ')}.`;
}

const usage = { inputTokens: 20, outputTokens: 20, totalTokens: 40 };

async function say({ onPart, signal }: ModelRequest, text: string): Promise<ModelResponse> {
  for (const word of text.split(/(?<= )/)) {
    await setTimeout(Number(WORD_MS), undefined, { signal });
    onPart?.({ type: 'text-delta', text: word });
  }
  return { content: [{ type: 'text', text }], finishReason: 'stop', usage };
}

async function callTool(
  { onPart, signal, messages }: ModelRequest,
  name: string,
  input: object,
): Promise<ModelResponse> {
  const id = `call_${messages.length}`;
  for (const text of JSON.stringify(input).match(/.{1,4}/g) ?? []) {
    await setTimeout(Number(WORD_MS) * 2, undefined, { signal });
    onPart?.({ type: 'tool-input-delta', id, name, text });
  }
  return { content: [{ type: 'tool-call', id, name, input }], finishReason: 'tool-calls', usage };
}
