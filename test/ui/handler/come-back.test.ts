import { Agent, defineTool, MemorySessionStore, type Model } from 'keelson';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, hangs, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { aborted, gate, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { storeOver } from '../../support/state/store-over.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** A chat whose tool waits, behind the handlers of two processes. */
function chat(options: Partial<AgentHandlerOptions> = {}) {
  const held = gate();
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({}),
    execute: () => held.pass().then(() => 'worked'),
  });
  const store = new MemorySessionStore();
  const runLog = new MemoryRunLog();
  const model = scriptedModel([calls('work'), streams(['Do', 'ne.']), 'Again.']);
  const all = { authorize: 'none', session: (id: string) => id, runLog, ...options } as const;
  const handlerOf = (place: MemorySessionStore | ReturnType<typeof storeOver>) => {
    const agent = new Agent({ model, tools: [work], store: place, logger: keepingLogger() });
    return createAgentHandler(agent, all);
  };
  return { held, store, here: handlerOf(store), there: handlerOf(storeOver(store, {})) };
}
const get = (handler: ReturnType<typeof createAgentHandler>, path: string, headers: Record<string, string> = {}) =>
  handler(new Request(`http://localhost/api/chat/${path}`, { headers }));

describe('a page that goes away and comes back', () => {
  test('reads the whole answer, in another process too, and the answer is stored once', async () => {
    const { held, here, there } = chat();
    const leaving = new AbortController();
    const page = await here(
      new Request('http://localhost/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chat',
          messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
        }),
        signal: leaving.signal,
      }),
    );
    const reader = page.body?.getReader();
    await reader?.read();
    await until(() => held.arrived === 1);
    leaving.abort();
    await reader?.cancel();

    const { messages, running } = await loadHistory(there);
    expect({ running, shown: messages.map(shownText) }).toEqual({ running: true, shown: ['Go.'] });
    const back = new ChatClient(there);
    back.messages = [...messages];
    const resuming = back.resumeStream();
    await until(() => back.lastMessage?.role === 'assistant');
    held.open();
    await resuming;

    expect(back.errors).toEqual([]);
    expect(back.messages.map(shownText)).toEqual(['Go.', 'Done.']);
    const stored = await loadHistory(here);
    expect(stored.messages.map(shownText)).toEqual(['Go.', 'Done.']);
    expect(stored.messages.at(-1)?.id).toBe(back.lastMessage?.id);
    expect((await get(there, 'chat/stream')).status).toBe(204);
  });

  test('continues plain events behind the `Last-Event-ID` of their run, without a gap and without a repeat', async () => {
    const { held, store, here, there } = chat({ protocol: 'sse' });
    const whole = readSSE(await post(here, '', { id: 'chat', message: 'Go.' }));
    await until(() => held.arrived === 1);
    const run = (await store.load('chat'))?.holder?.run;
    const ids = [0, 1, 2, 3, 4].map((count) => `${run}:${count}`);
    const others = ['run_of_earlier:3', '3', '-1', 'x:y', ''];
    const answers = await Promise.all(
      [...ids, ...others].map((id) => get(there, 'stream?id=chat', { 'last-event-id': id })),
    );
    held.open();

    const all = await whole;
    for (const [at, answer] of answers.entries()) {
      const rest = all.filter(({ id }) => Number(id?.split(':')[1]) > (at < ids.length ? at : 0));
      const text = (events: typeof all) =>
        events.map(({ data }) => (data as { text?: string }).text ?? (data as { type: string }).type).join('');
      expect(text(await readSSE(answer))).toBe(text(rest));
    }
  });
});

test.each([
  ['is told', (store: MemorySessionStore) => store],
  ['looks every second', (store: MemorySessionStore) => storeOver(store, {})],
])('a run of another process is stopped: its store %s', async (_title, placeOf) => {
  const store = new MemorySessionStore();
  const model = scriptedModel([streams(['Hel'], hangs())]);
  const handlerOf = (place: SessionStore) =>
    createAgentHandler(new Agent({ model, store: place, logger: keepingLogger() }), {
      authorize: 'none',
      session: (id) => id,
    });
  const page = new ChatClient(handlerOf(placeOf(store)));
  const sending = page.sendMessage({ text: 'Go.' });
  await until(() => page.messages.length === 2);
  const there = handlerOf(storeOver(store, {}));

  const answer = await post(there, '/stop', { id: 'chat' });

  expect(await answer.json()).toEqual({ stopped: true });
  await sending;
  const { messages, running } = await loadHistory(there);
  expect({ running, shown: messages.map(shownText) }).toEqual({ running: false, shown: ['Go.', 'Hel'] });
  expect(await (await post(there, '/stop', { id: 'chat' })).json()).toEqual({ stopped: false });
});

test.each([
  ['nothing runs', 'chat/stream', 204],
  ['the id of the chat is missing', 'stream', 204],
  ['the id of the chat is not UTF-8', '%ff/stream', 400],
])('a page that asks for a running answer while %s gets status code %i', async (_title, path, status) => {
  expect((await get(chat().here, path)).status).toBe(status);
});

test('a page gets 204 if its handler keeps no run log', async () => {
  const { held, store, here } = chat({ onDisconnect: 'abort', runLog: undefined });
  const answer = await post(here, '', {
    id: 'chat',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  });
  await until(() => held.arrived === 1);

  expect((await get(here, 'chat/stream')).status).toBe(204);
  expect((await store.load('chat'))?.holder).toBeDefined();
  held.open();
  await answer.text();
});

test('a silent stream gets comments, and so does the stream of a page that came back', async () => {
  const { held, here, there } = chat({ keepAliveMs: 20 });
  const answer = await post(here, '', {
    id: 'chat',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  });
  await until(() => held.arrived === 1);
  const back = await get(there, 'chat/stream');
  const comments = [0, 0];
  const texts = [answer, back].map(async (response, which) => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      comments[which] = text.split(': keep-alive\n\n').length - 1;
      if (Math.min(...comments) > 1) held.open();
    }
    return text;
  });

  for (const text of await Promise.all(texts)) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(Math.min(...comments)).toBeGreaterThan(1);
});

describe('a message that is sent again while its answer runs', () => {
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] };

  test('keeps its host awake until the run has ended', async () => {
    const ended: Promise<void>[] = [];
    const { held, here, store } = chat({ waitUntil: (run) => void ended.push(run) });
    const page = await post(here, '', { id: 'chat', messages: [message] });
    await until(() => held.arrived === 1);
    await page.body?.cancel();
    const isEnded = () => store.load('chat')?.holder === undefined;
    const before = isEnded();

    held.open();
    await Promise.all(ended);

    expect([ended.length, before, isEnded()]).toEqual([1, false, true]);
  });

  test.each(['here', 'there'] as const)('follows the answer, sent to the process %s', async (place) => {
    const { held, store, ...handlers } = chat();
    const first = await post(handlers.here, '', { id: 'chat', messages: [message] });
    await until(() => held.arrived === 1);

    const again = await post(handlers[place], '', { id: 'chat', messages: [message] });
    held.open();

    expect(again.status).toBe(200);
    expect(await again.text()).toBe(await first.text());
    expect(held.arrived).toBe(1);
    expect((await store.load('chat'))?.entries.filter(({ id }) => id === 'm')).toHaveLength(1);
  });
});

test('a page that comes back while an approved call runs shows the answer from its beginning', async () => {
  const held = gate();
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    execute: () => held.pass().then(() => 'paid'),
  });
  const asking = {
    content: [
      { type: 'text', text: 'I will pay.' },
      { type: 'tool-call', id: 'c', name: 'pay', input: {} },
    ],
  };
  const agent = new Agent({
    model: scriptedModel([asking as never, 'Done.']),
    tools: [pay],
    lifecycle: [approval({ tools: ['pay'] })],
  });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const first = new ChatClient(handler);
  await first.sendMessage({ text: 'Pay.' });
  void first.addToolApprovalResponse({ id: 'c', approved: true });
  await until(() => held.arrived === 1);

  const back = new ChatClient(handler);
  back.messages = [...(await loadHistory(handler)).messages];
  const resuming = back.resumeStream();
  await until(() => back.status === 'streaming');
  held.open();
  await resuming;

  const { messages } = await loadHistory(handler);
  expect(back.messages.map(({ id, parts }) => ({ id, parts }))).toEqual(
    first.messages.map(({ id, parts }) => ({
      id,
      parts: parts.map((part) => ('approval' in part ? expect.anything() : part)),
    })),
  );
  expect(back.messages.map(shownText)).toEqual(messages.map(shownText));
});

test('a page goes on after a new answer was stopped while the model was reasoning', async () => {
  let asked = 0;
  const reasoning: Model = {
    id: 'reasoning',
    generate: ({ onPart, signal }) => {
      asked += 1;
      if (asked !== 2) return scriptedModel(['Hello.']).generate({ messages: [], tools: [] } as never);
      onPart?.({ type: 'reasoning-delta', text: 'Hm' });
      return aborted(signal as AbortSignal);
    },
  };
  const agent = new Agent({ model: reasoning, logger: keepingLogger() });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const page = new ChatClient(handler);
  await page.sendMessage({ text: 'Hi' });
  const regenerating = page.regenerate();
  await until(() => page.lastMessage?.parts.some(({ type }) => type === 'reasoning') ?? false);
  await post(handler, '/stop', { id: 'chat' });
  await regenerating;

  await page.sendMessage({ text: 'And now?' });

  expect(page.errors).toEqual([]);
  expect(page.messages.map(shownText)).toEqual(['Hi', '', 'And now?', 'Hello.']);
});
