import { Agent, type AgentLifecycle, defineTool, MemorySessionStore, textOf } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createAgentHandler, type ProtocolName } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ChatClient, type LoadedHistory, loadHistory, post } from '../../support/ui/chat-client.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** Summarizes everything before the latest message if there are more than six. */
const summarizer: AgentLifecycle = {
  name: 'summarizer',
  beforeModel: (messages, run) => {
    const from = messages.at(-1);
    if (messages.length > 6 && from !== undefined) run.summarize({ text: 'They counted.', from });
  },
};
const echo = scriptedModel(({ messages }) => says(`to ${textOf(messages.at(-1) ?? expect.fail('no message'))}`));
const isAnswerOrQuestion = ({ parts }: LoadedHistory['messages'][number]) => parts[0]?.type !== 'data-summary';

/** A chat of twenty questions and answers that was summarized several times. */
async function longChat() {
  const agent = new Agent({ model: echo, store: new MemorySessionStore(), lifecycle: [summarizer] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const client = new ChatClient(handler);
  for (let index = 0; index < 20; index += 1) await client.sendMessage({ text: `q${index}` });
  expect(client.errors).toEqual([]);
  return { agent, handler, client };
}

test('shows all messages of a chat of 40 messages after a compaction, with the ids of the page', async () => {
  const { agent, handler, client } = await longChat();
  await using session = await agent.session({ id: 'chat' });
  expect(session.entries.length).toBeLessThan(20);

  const { messages, before } = await loadHistory(handler);

  expect(messages.filter(isAnswerOrQuestion).map(({ id }) => id)).toEqual(client.messages.map(({ id }) => id));
  expect(messages.filter((message) => !isAnswerOrQuestion(message)).map(({ role }) => role)).toContain('assistant');
  expect(JSON.stringify(messages)).not.toContain('[Summary');
  expect(before).toBeUndefined();
});

test('returns the pages of a chat, and no message twice', async () => {
  const { handler, client } = await longChat();
  const pages: LoadedHistory[] = [await loadHistory(handler, 'chat', { limit: '5' })];
  for (let last = pages[0]; last?.before !== undefined; last = pages[0]) {
    pages.unshift(await loadHistory(handler, 'chat', { before: last.before, limit: '5' }));
  }

  expect(pages.length).toBeGreaterThan(3);
  for (const { messages } of pages) expect(messages[0]?.role).toBe('user');
  const all = pages.flatMap(({ messages }) => messages);
  expect(all.filter(isAnswerOrQuestion).map(shownText)).toEqual(client.messages.map(shownText));
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

test('continues a page that shows only the end of a long chat', async () => {
  const { handler } = await longChat();
  const client = new ChatClient(handler);
  client.messages = (await loadHistory(handler, 'chat', { limit: '5' })).messages;

  await client.sendMessage({ text: 'more' });

  expect(client.errors).toEqual([]);
  expect(client.messages.at(-1) && shownText(client.messages.at(-1) ?? expect.fail())).toBe('to more');
});

test.each([
  ['an unknown message', { before: 'm-unknown' }, { status: 409, code: 'ERR_UI_MESSAGE_UNKNOWN' }],
  ['a limit of 0', { limit: '0' }, { status: 400, code: 'ERR_UI_BODY_INVALID' }],
  ['a limit that is not a number', { limit: 'ten' }, { status: 400, code: 'ERR_UI_BODY_INVALID' }],
])('refuses a page with %s', async (_title, page, { status, code }) => {
  const agent = new Agent({ model: echo, store: new MemorySessionStore() });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  await new ChatClient(handler).sendMessage({ text: 'Hi' });

  const query = new URLSearchParams({ id: 'chat', ...page });
  const response = await handler(new Request(`http://localhost/api/chat/history?${query}`));

  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code } });
});

/** A chat with a tool that waits, and that needs an approval if `asks` is set. */
function toolChat(protocol: ProtocolName, asks: boolean, onDisconnect?: 'abort') {
  let began = () => {};
  let finish = () => {};
  const running = new Promise<void>((resolve) => (began = resolve));
  const released = new Promise<void>((resolve) => (finish = resolve));
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    execute: async () => {
      began();
      await released;
      return 'paid';
    },
  });
  const agent = new Agent({
    model: scriptedModel([calls('pay'), 'Fine.']),
    tools: [pay],
    lifecycle: asks ? [approval({ tools: ['pay'] })] : [],
    store: new MemorySessionStore(),
  });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol, onDisconnect });
  return { handler, client: new ChatClient(handler), running, finish };
}

test('shows a denied call with the reason after a reload, as the page has it', async () => {
  const { handler, client } = toolChat('ai-sdk', true);
  await client.sendMessage({ text: 'Pay' });
  await client.addToolApprovalResponse({ id: 'call_1', approved: false, reason: 'Too much.' });
  await expect.poll(() => client.lastMessage && shownText(client.lastMessage)).toBe('Fine.');

  const { messages } = await loadHistory(handler);

  const state = { state: 'output-denied', approval: { id: 'call_1', approved: false, reason: 'Too much.' } };
  for (const message of [client.lastMessage, messages.at(-1)]) {
    expect(message?.parts).toContainEqual(
      expect.objectContaining({ ...state, approval: expect.objectContaining(state.approval) }),
    );
  }
  expect(messages.at(-1)?.id).toBe(client.lastMessage?.id);
});

test('shows a denied call with the reason, live and after a reload, with the protocol ag-ui', async () => {
  const { handler } = toolChat('ag-ui', true);
  const input = { threadId: 'chat', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'Pay' }] };
  await (await post(handler, '', input)).text();
  const payload = { approved: false, reason: 'Too much.' };
  const resume = [{ interruptId: 'call_1', status: 'resolved', payload }];

  const live = await (await post(handler, '', { ...input, runId: 'r2', resume })).text();

  const shown = { role: 'tool', toolCallId: 'call_1', content: 'The call was denied: Too much.' };
  const { messages } = await loadHistory(handler);
  expect(live).toContain(shown.content);
  expect(messages).toContainEqual(expect.objectContaining(shown));
  expect(live).toContain(JSON.stringify((messages as { id: string }[])[2]?.id));
});

test('shows a call of a run that goes on without a request for approval, if the page cannot come back', async () => {
  const { handler, client, running, finish } = toolChat('ai-sdk', false, 'abort');
  const sent = client.sendMessage({ text: 'Pay' });
  await running;

  const loaded = await loadHistory(handler);
  finish();
  await sent;

  expect(loaded).toMatchObject({ pending: [], running: true });
  expect(loaded.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'tool-pay', state: 'input-available' });
  expect(loaded.messages.at(-1)?.id).toBe(client.lastMessage?.id);
});

test('takes the decision on a call of an answer that was summarized half-way', async () => {
  const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => 'a ship' });
  const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => 'paid' });
  const halfway: AgentLifecycle = {
    name: 'halfway',
    beforeModel: (messages, run) => {
      const from = messages.at(-2);
      if (messages.length > 4 && from !== undefined) run.summarize({ text: 'They looked.', from });
    },
  };
  const script = ['look', 'look', 'pay'].map((name, index) => calls({ id: `c${index}`, name }));
  const agent = new Agent({
    model: scriptedModel([...script, 'Done.']),
    tools: [look, pay],
    lifecycle: [halfway, approval({ tools: ['pay'] })],
    store: new MemorySessionStore(),
  });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const client = new ChatClient(handler);
  await client.sendMessage({ text: 'Pay' });

  await client.addToolApprovalResponse({ id: 'c2', approved: true });
  await expect.poll(() => client.lastMessage && shownText(client.lastMessage)).toBe('Done.');

  const { messages } = await loadHistory(handler);
  expect(client.errors).toEqual([]);
  expect(messages.filter(isAnswerOrQuestion).map(({ id }) => id)).toEqual(client.messages.map(({ id }) => id));
  expect(messages.at(-1)?.parts.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : []))).toEqual([
    'c0',
    'c1',
    'c2',
  ]);
});
