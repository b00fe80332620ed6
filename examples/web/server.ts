// A chat on a web page. The model is a script, unless OPENAI_API_KEY is set.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Agent,
  type AgentLifecycle,
  defineTool,
  type Entry,
  HookAction,
  type Message,
  SessionLostError,
  type ToolRun,
  textOf,
  type Usage,
} from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval, compaction, retryModelCalls } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import type { SessionPage } from 'keelson/store';
import { createAgentHandler, MemoryRunLog, toNodeListener } from 'keelson/ui';
import { z } from 'zod';
import { scriptedAnswers } from './script.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const { PORT = '3000', HOST = '127.0.0.1', SESSIONS = join(folder, 'sessions'), WORD_MS = '25' } = process.env;
const { OPENAI_API_KEY } = process.env;

const LOCAL = ['localhost', '127.0.0.1'];
/** Everybody on this machine may use every chat. A function returns the name of the person who sends a request. */
const authorize = 'none' as 'none' | ((request: Request) => string | undefined);
/** The names of this server, such as `chat.example.com`. */
const hosts = LOCAL;
if (HOST !== '127.0.0.1' && (authorize === 'none' || hosts === LOCAL)) {
  process.stderr.write(
    `Set \`authorize\` and \`hosts\` in server.ts before the server may listen on HOST "${HOST}".\n`,
  );
  process.exit(1);
}

/** The size of the context in tokens, and the price of a million tokens in US dollars. Change them with the model. */
const limits = OPENAI_API_KEY
  ? { context: 400_000, input: 0.25, cachedInput: 0.025, output: 2 }
  : { context: 4_000, input: 5, cachedInput: 0.5, output: 25 };
const model = OPENAI_API_KEY
  ? openai('gpt-5-mini', { apiKey: OPENAI_API_KEY })
  : scriptedAnswers({ wordMs: Number(WORD_MS) });
const store = new FileSessionStore({ folder: SESSIONS });

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: async ({ city }, { progress }) => {
    progress({ asking: city });
    await setTimeout(Number(WORD_MS) * 50);
    return { sky: 'clear', temperature: '14 °C', wind: '4 m/s' };
  },
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ euro: z.number().positive(), to: z.string() }),
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

let booked: Promise<unknown> = Promise.resolve();

/**
 * Beside each chat, in the store: its title, and what its model calls have cost. Summaries and the calls of the agents inside
 * are included.
 */
const bookkeeping: AgentLifecycle = {
  name: 'bookkeeping',
  async wrapModelCall(request, next) {
    const { session, turn } = request.run;
    if (session !== undefined && turn === 1) {
      await store.update(session.id, { title: titleOf(await session.allMessages()) });
    }
    const response = await next(request);
    await book(response.usage, request.run);
    return response;
  },
};

async function book(usage: Usage, run: ToolRun): Promise<void> {
  const session = outermost(run).session;
  if (session === undefined) return;
  // One after another: agents inside of parallel calls have the same session.
  booked = booked
    .catch(() => {})
    .then(async () => {
      const { data } = (await store.update(session.id, {})) ?? {};
      const context = run.parent ? Number(data?.context ?? 0) : (usage.contextTokens ?? usage.totalTokens);
      const tokens = Number(data?.tokens ?? 0) + usage.totalTokens;
      const usd = Number(data?.usd ?? 0) + costOf(usage);
      await store.update(session.id, { data: { context, tokens, usd } });
    });
  await booked;
}

/** The cost of a model call in US dollars. Tokens that were read from a cache are part of the input tokens. */
function costOf({ inputTokens, cachedInputTokens = 0, outputTokens }: Usage): number {
  const { input, cachedInput, output } = limits;
  const plain = (inputTokens - cachedInputTokens) * input;
  return (plain + cachedInputTokens * cachedInput + outputTokens * output) / 1_000_000;
}

const lookout = new Agent({ name: 'lookout', model, tools: [weather], lifecycle: [bookkeeping] });
const pilot = new Agent({
  name: 'pilot',
  model,
  tools: [pay, lookout.asTool({ description: 'Looks at the sky.' })],
  lifecycle: [approval({ tools: ['pay'] }), bookkeeping],
});
const agent = new Agent({
  store,
  model,
  tools: [weather, pay, inspect, screen, pilot.asTool({ description: 'Brings ships into the harbour.' })],
  lifecycle: [
    approval({ tools: ['pay'] }),
    readLetters,
    bookkeeping,
    retryModelCalls({ maxRetries: 2 }),
    // The limit of the script is low, so that a chat of this demonstration reaches it.
    compaction(OPENAI_API_KEY ? { maxTokens: 300_000 } : { maxMessages: 20, keep: 1 }),
  ],
});

const options = {
  authorize,
  hosts,
  runLog: new MemoryRunLog(),
  session: (chatId: string, person = 'me') => ({ id: `${person}/${chatId}`, owner: person }),
  // The messages of errors may contain data of the server, so the page gets words of our own.
  errorText: (error: unknown) =>
    error instanceof SessionLostError
      ? 'The server was restarted during this answer. Your question is kept.'
      : 'The model could not finish its answer. Your question is kept.',
};
const handler = createAgentHandler(agent, options);
/** Guests (`?guest` in the address of the page) read and write, and decide nothing. */
const guestHandler = createAgentHandler(agent, { ...options, mayDecide: () => false });

const listener = toNodeListener((request) => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/api/chats')) return answerChats(request);
  return pathname.startsWith('/api/guest/') ? guestHandler(request) : handler(request);
});
const files = readPage(join(folder, 'dist'));
const POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path.startsWith('/api/')) return void listener(request, response);
  const file = files.get(path === '/' ? '/index.html' : path);
  if (file === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': file.type, 'content-security-policy': POLICY }).end(file.bytes);
});
server.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { readonly port: number };
  process.stdout.write(`http://${HOST}:${port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, shutDown);

/** Stops the answers that run. The sessions keep what was said, and the pages wait for the next server. */
async function shutDown(): Promise<void> {
  server.close();
  // A connection that still gets the end of an answer is closed behind it.
  server.keepAliveTimeout = 1;
  await agent.close();
}

/** Lists the chats of a person, returns or deletes one of them, and goes to another version of a message. */
async function answerChats(request: Request): Promise<Response> {
  const person = personOf(request);
  if (person === undefined) return new Response(null, { status: 403 });
  const { pathname, searchParams } = new URL(request.url);
  const chatId = decodeURIComponent(pathname.slice('/api/chats/'.length));
  if (chatId === '') return Response.json(await listChats(person, searchParams.get('search') ?? ''));
  await using session = await agent.session(options.session(chatId, person));
  if (request.method === 'DELETE') {
    await session.stop();
    await store.delete(session.id);
    return new Response(null, { status: 204 });
  }
  await session.allMessages();
  if (request.method === 'PUT') {
    const { version } = (await request.json()) as { readonly version: string };
    await session.branch(latestBehind(version, session.entries));
    await store.update(session.id, { title: titleOf(await session.allMessages()) });
  }
  const { data } = (await store.update(session.id, {})) ?? {};
  return Response.json({ versions: versionsIn(session.entries), spent: { ...data, limit: limits.context } });
}

/** A page of another site gets no answer: its browser asks before it sends PUT and DELETE, and keeps a response to itself. */
function personOf(request: Request): string | undefined {
  const { hostname } = new URL(`http://${request.headers.get('host')}`);
  if (!hosts.includes(hostname)) return undefined;
  return authorize === 'none' ? 'me' : authorize(request);
}

/** Returns the latest chats whose titles contain the words. */
async function listChats(owner: string, search: string) {
  const found: { readonly id: string; readonly title: string }[] = [];
  let after: string | undefined;
  do {
    const page: SessionPage = await store.list({ owner, after });
    for (const { id, title = 'New chat' } of page.sessions) {
      if (title.toLowerCase().includes(search.toLowerCase())) found.push({ id: id.slice(owner.length + 1), title });
    }
    after = page.next;
  } while (after !== undefined && found.length < 100);
  return found;
}

/** The versions of each message that was edited or answered again, and its place among them, by its id on the page. */
function versionsIn(entries: readonly Entry[]) {
  const behind = new Map<string | undefined, Entry[]>();
  for (const entry of entries) {
    const { body, path, parent } = entry;
    if (body.type !== 'message' || body.message.role === 'tool' || path !== undefined) continue;
    behind.set(parent, [...(behind.get(parent) ?? []), entry]);
  }
  const lists = [...behind.values()].filter((list) => list.length > 1);
  return Object.fromEntries(
    lists.flatMap((list) => list.map((entry, at) => [shownId(entry), { all: list.map(({ id }) => id), at }])),
  );
}

/** The page knows an answer by its run. */
function shownId({ id, run = id, body }: Entry): string {
  return body.type === 'message' && body.message.role === 'assistant' ? run : id;
}

/** Returns the latest message or summary of the branches behind an entry. */
function latestBehind(id: string, entries: readonly Entry[]): string {
  const branch = new Set([id]);
  for (const { id, parent, path, body } of entries) {
    if (path === undefined && ['message', 'summary'].includes(body.type) && branch.has(parent ?? '')) branch.add(id);
  }
  return [...branch].at(-1) ?? id;
}

function titleOf(messages: readonly Message[]): string {
  const question = messages.find(({ role }) => role === 'user');
  const [line = ''] = (question ? textOf(question) : '').split('\n');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || 'A picture';
}

function outermost(run: ToolRun): ToolRun {
  return run.parent ? outermost(run.parent) : run;
}

/** Reads the built page into memory, so that a request cannot name another file. */
function readPage(folder: string): ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }> {
  const types: Readonly<Record<string, string>> = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
  };
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const type = types[extname(path)] ?? 'application/octet-stream';
      return [path.slice(folder.length), { type, bytes: readFileSync(path) }];
    }),
  );
}
