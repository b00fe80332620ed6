import { Agent, type AgentLifecycle, MemorySessionStore, textOf } from 'keelson';
import { retryModelCalls } from 'keelson/lifecycles';
import { fails, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { agUIClient } from '../../support/ui/ag-ui-client.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** Summarizes everything before the latest message if there are more than four. */
const summarizer: AgentLifecycle = {
  name: 'summarizer',
  beforeModel: (messages, run) => {
    const from = messages.at(-1);
    if (messages.length > 4 && from !== undefined) run.summarize({ text: 'They talked.', from });
  },
};

function chatOf(
  script: readonly ScriptEntry[] | ((text: string) => ScriptEntry),
  options: Partial<AgentHandlerOptions> & { lifecycle?: AgentLifecycle[] } = {},
) {
  const { lifecycle = [], ...others } = options;
  const store = new MemorySessionStore();
  const model =
    typeof script === 'function'
      ? scriptedModel(({ messages }) => script(textOf(messages.at(-1) ?? expect.fail('no message'))))
      : scriptedModel(script);
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const agent = new Agent({ model, store, lifecycle, logger });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, logger, ...others });
  const textsOf = async (id = 'chat') => {
    await using session = await agent.session({ id });
    return (await session.allMessages()).map(textOf);
  };
  return { store, model, agent, handler, textsOf, client: new ChatClient(handler) };
}

const send = (text: string, id: string) => ({
  id: 'chat',
  messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
});
const answered = (text: string) => `to ${text}`;
const stored = (store: MemorySessionStore) => store.load('chat')?.entries.filter(({ body }) => body.type === 'message');

describe('the same message sent again', () => {
  test.each([
    ['ai-sdk', send('Hi', 'm1')],
    ['sse', { id: 'chat', message: 'Hi', messageId: 'm1' }],
    ['ag-ui', { threadId: 'chat', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'Hi' }] }],
  ] as const)('is stored once after a failure, and then answered, with the protocol %s', async (protocol, body) => {
    const { handler, store, textsOf, model } = chatOf([fails('down'), 'Hello.'], { protocol });

    await (await post(handler, '', body)).text();
    expect(stored(store)).toHaveLength(1);
    await (await post(handler, '', body)).text();

    expect(await textsOf()).toEqual(['Hi', 'Hello.']);
    expect(model.requests[1]?.messages).toHaveLength(1);
  });

  test('gets the stored answer with its id, and calls no model', async () => {
    const { handler, client, model, store } = chatOf(answered);
    await client.sendMessage({ text: 'Hi' });
    const [asked, answer] = client.messages;
    const before = store.load('chat')?.length;
    const again = new ChatClient(handler);

    await again.sendMessage({ id: asked?.id ?? '', role: 'user', parts: [{ type: 'text', text: 'Hi' }] });

    expect(again.errors).toEqual([]);
    expect(again.messages.map(({ id }) => id)).toEqual([asked?.id, answer?.id]);
    expect(again.messages.map(shownText)).toEqual(['Hi', 'to Hi']);
    expect([model.requests.length, store.load('chat')?.length]).toEqual([1, before]);
  });

  test('gets the stored answer as events, with the protocol sse', async () => {
    const { handler } = chatOf(answered, { protocol: 'sse' });
    const body = { id: 'chat', message: 'Hi', messageId: 'm1' };
    await (await post(handler, '', body)).text();

    const events = await readSSE(await post(handler, '', body));

    expect(events.map(({ event }) => event)).toEqual(['run-start', 'turn-start', 'model-end', 'turn-end', 'run-end']);
    expect(events.at(-1)?.data).toMatchObject({ result: { status: 'completed', text: 'to Hi' } });
  });

  test('gets a new answer in a new branch if another message follows it', async () => {
    const { handler, textsOf } = chatOf(answered);
    await (await post(handler, '', send('One', 'm1'))).text();
    await (await post(handler, '', send('Two', 'm2'))).text();

    await (await post(handler, '', send('One', 'm1'))).text();

    expect(await textsOf()).toEqual(['One', 'to One']);
  });
});

describe('a message with other text under its id', () => {
  test('begins a branch before the stored one, and its retry is stored once', async () => {
    const { handler, textsOf, store } = chatOf([answered('One'), answered('Two'), fails('down'), 'Good day.']);
    await (await post(handler, '', send('One', 'm1'))).text();
    await (await post(handler, '', send('Two', 'm2'))).text();

    await (await post(handler, '', send('Two, Bo', 'm2'))).text();
    await (await post(handler, '', send('Two, Bo', 'm2'))).text();

    expect(await textsOf()).toEqual(['One', 'to One', 'Two, Bo', 'Good day.']);
    expect(stored(store)).toHaveLength(6);
    const { messages } = await loadHistory(handler);
    expect(messages.map(({ id }) => id).filter((id) => id.startsWith('m'))).toEqual(['m1', 'm2~1']);
  });

  test('begins a branch at the start of the chat, with the protocol ag-ui', async () => {
    const { handler, textsOf } = chatOf(answered, { protocol: 'ag-ui' });
    const say = (content: string) => ({
      threadId: 'chat',
      runId: 'r1',
      messages: [{ id: 'm1', role: 'user', content }],
    });
    await (await post(handler, '', say('Hi'))).text();

    await (await post(handler, '', say('Hi, Bo'))).text();

    expect(await textsOf()).toEqual(['Hi, Bo', 'to Hi, Bo']);
  });
});

test('edits and regenerates on a page that is left open after an edit', async () => {
  const { client, textsOf } = chatOf(answered);
  await client.sendMessage({ text: 'One' });
  await client.sendMessage({ text: 'Two' });
  const [one, , two] = client.messages.map(({ id }) => id);

  await client.sendMessage({ text: 'Two, Bo', messageId: two ?? '' });
  await client.regenerate();
  await client.sendMessage({ text: 'Three' });
  await client.sendMessage({ text: 'Two, Cy', messageId: two ?? '' });
  await client.regenerate({ messageId: client.lastMessage?.id ?? '' });
  expect(await textsOf()).toEqual(['One', 'to One', 'Two, Cy', 'to Two, Cy']);
  await client.sendMessage({ text: 'Zero', messageId: one ?? '' });

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Zero', 'to Zero']);
  expect(await textsOf()).toEqual(['Zero', 'to Zero']);
});

test('edits and regenerates earlier messages after a compaction', async () => {
  const { client, textsOf } = chatOf(answered, { lifecycle: [summarizer] });
  for (const text of ['One', 'Two', 'Three', 'Four']) await client.sendMessage({ text });
  const ids = client.messages.map(({ id }) => id);

  await client.regenerate({ messageId: ids[3] ?? '' });
  expect(client.messages.map(shownText)).toEqual(['One', 'to One', 'Two', 'to Two']);
  expect(await textsOf()).toEqual(['One', 'to One', 'Two', 'to Two']);
  await client.sendMessage({ text: 'One, Bo', messageId: ids[0] ?? '' });

  expect(client.errors).toEqual([]);
  expect(await textsOf()).toEqual(['One, Bo', 'to One, Bo']);
});

test('edits and regenerates in a copy of the chat', async () => {
  const { agent, client, handler, textsOf } = chatOf(answered);
  for (const text of ['One', 'Two', 'Three']) await client.sendMessage({ text });
  await using session = await agent.session({ id: 'chat' });
  await session.fork({ id: 'copy' });
  const copy = new ChatClient(handler, 'copy');
  copy.messages = (await loadHistory(handler, 'copy')).messages;
  const ids = client.messages.map(({ id }) => id);
  expect(copy.messages.map(({ id }) => id)).toEqual(ids);

  await copy.regenerate({ messageId: ids[3] ?? '' });
  expect(await textsOf('copy')).toEqual(['One', 'to One', 'Two', 'to Two']);
  await copy.sendMessage({ text: 'One, Bo', messageId: ids[0] ?? '' });

  expect(copy.errors).toEqual([]);
  expect(await textsOf('copy')).toEqual(['One, Bo', 'to One, Bo']);
  expect(await textsOf('chat')).toHaveLength(6);
});

test('continues a page that is left open while another page has regenerated', async () => {
  const { client, handler, textsOf } = chatOf(answered);
  await client.sendMessage({ text: 'One' });
  const other = new ChatClient(handler);
  other.messages = (await loadHistory(handler)).messages;
  await other.regenerate();

  await client.sendMessage({ text: 'Two' });

  expect(client.errors).toEqual([]);
  expect(await textsOf()).toEqual(['One', 'to One', 'Two', 'to Two']);
});

test('ignores a greeting of the page, and refuses an unknown answer behind a message', async () => {
  const { client, handler, textsOf } = chatOf(answered);
  const greeting = { id: 'welcome', role: 'assistant', parts: [{ type: 'text', text: 'How can I help?' }] } as const;
  client.messages = [{ ...greeting, parts: [...greeting.parts] }];

  await client.sendMessage({ text: 'Hi' });
  await client.sendMessage({ text: 'Bye' });
  expect(client.errors).toEqual([]);
  expect(await textsOf()).toEqual(['Hi', 'to Hi', 'Bye', 'to Bye']);
  const [hi] = send('Hi', 'm9').messages;
  const response = await post(handler, '', { id: 'chat', messages: [hi, greeting, hi] });

  expect(response.status).toBe(409);
  expect(response.headers.get('keelson-error')).toBe('ERR_UI_HISTORY_UNKNOWN');
});

test('gives the messages of an AG-UI client the ids that they have after a reload', async () => {
  const { handler } = chatOf(answered, { protocol: 'ag-ui' });
  const { client, run } = agUIClient(handler);
  for (const content of ['One', 'Two']) {
    client.addMessage({ id: `page-${content}`, role: 'user', content });
    await run();
  }

  const { messages } = await loadHistory(handler, 't1');

  expect(messages.map(({ id }) => id)).toEqual(client.messages.map(({ id }) => id));
});

test('keeps all messages of an AG-UI client after a compaction, if a run replaces text', async () => {
  const overloaded = fails(Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 1 }));
  const script = ['1', '2', '3', streams(['Hel'], overloaded), '4'];
  const { handler } = chatOf(script, { protocol: 'ag-ui', lifecycle: [summarizer, retryModelCalls()] });
  const { client, run } = agUIClient(handler);
  for (const content of ['One', 'Two', 'Three', 'Four']) {
    client.addMessage({ id: content, role: 'user', content });
    await run();
  }

  const { messages } = await loadHistory(handler, 't1');

  // The client puts a new activity at the end.
  const said = client.messages.filter(({ role }) => role !== 'activity');
  expect(said.map(({ content }) => content)).toEqual(['One', '1', 'Two', '2', 'Three', '3', 'Four', '4']);
  expect(messages.filter(({ role }) => String(role) !== 'activity')).toEqual(said);
});
