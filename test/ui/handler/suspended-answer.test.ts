import { setImmediate } from 'node:timers/promises';
import { Agent, type AgentLifecycle, defineTool, HookAction, MemorySessionStore, textOf } from 'keelson';
import { calls, type ScriptEntry, says, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { gate, until } from '../../support/agent/settle.js';
import { agUIClient, readAgUIEvents } from '../../support/ui/ag-ui-client.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { shownText } from '../../support/ui/read-ui-message.js';

const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => 'a ship' });

/** Suspends each response that contains the word "secret". */
function reviewer(holdStream: boolean): AgentLifecycle {
  const afterModel: AgentLifecycle['afterModel'] = ({ content }) =>
    JSON.stringify(content).includes('secret') ? HookAction.suspend('Read it first.') : undefined;
  return { name: 'reviewer', holdStream, afterModel };
}

function chatOf(script: readonly ScriptEntry[], options: Partial<AgentHandlerOptions> & { holdStream?: boolean } = {}) {
  const { holdStream = false, ...others } = options;
  const store = new MemorySessionStore();
  const model = scriptedModel(script);
  const agent = new Agent({ model, store, tools: [look], lifecycle: [reviewer(holdStream)] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, ...others });
  const textsOf = async (id: string) => {
    await using session = await agent.session({ id });
    return session.messages.map(textOf);
  };
  return { store, model, handler, textsOf, client: new ChatClient(handler) };
}

const secret = streams(['The ', 'secret.']);
const ask = (text = 'Hi') => ({ id: 'chat', messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text }] }] });
const request = {
  type: 'tool-answer',
  toolCallId: 'answer',
  state: 'approval-requested',
  input: { text: 'The secret.' },
  approval: expect.objectContaining({ id: 'answer' }),
};

test('asks the page to decide on a suspended answer, and takes back its text', async () => {
  const { client, handler } = chatOf([secret]);

  await client.sendMessage({ text: 'Hi' });

  const [, live] = client.messages;
  const { messages } = await loadHistory(handler);
  expect(client.errors).toEqual([]);
  expect(live?.parts).toEqual([{ type: 'step-start' }, expect.objectContaining(request)]);
  expect(messages[1]).toEqual({ id: live?.id, role: 'assistant', parts: [{ type: 'step-start' }, request] });
});

test('shows the answer after the page has approved it', async () => {
  const { client, handler, textsOf, model } = chatOf([secret, 'Bye.']);
  await client.sendMessage({ text: 'Hi' });

  await client.addToolApprovalResponse({ id: 'answer', approved: true });
  await settled(client);

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'The secret.']);
  expect(client.lastMessage?.parts.filter(({ type }) => type === 'tool-answer')).toEqual([]);
  expect((await loadHistory(handler)).messages.map(shownText)).toEqual(['Hi', 'The secret.']);
  expect(model.requests).toHaveLength(1);
  await client.sendMessage({ text: 'I go' });
  expect(await textsOf('chat')).toEqual(['Hi', 'The secret.', 'I go', 'Bye.']);
});

test('shows the new answer after the page has denied one, and never the denied answers', async () => {
  const { client, handler, model } = chatOf([secret, says('Another secret.'), 'Good day.']);
  await client.sendMessage({ text: 'Hi' });

  await client.addToolApprovalResponse({ id: 'answer', approved: false, reason: 'Say less.' });
  await settled(client);
  expect(client.lastMessage?.parts.at(-1)).toMatchObject({ ...request, input: { text: 'Another secret.' } });
  await client.addToolApprovalResponse({ id: 'answer', approved: false });
  await settled(client);

  const { messages } = await loadHistory(handler);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Say less.');
  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'Good day.']);
  expect(messages.map(shownText)).toEqual(['Hi', 'Good day.']);
  expect(messages.map(({ id }) => id)[1]).toBe(client.lastMessage?.id);
  expect(JSON.stringify(messages)).not.toMatch(/secret|denied/);
});

test('continues, regenerates and edits a chat after a denied answer', async () => {
  const { client, handler, textsOf } = chatOf([secret, 'Good day.', 'Bye.', 'Farewell.', 'So be it.']);
  await client.sendMessage({ text: 'Hi' });
  await client.addToolApprovalResponse({ id: 'answer', approved: false });
  await settled(client);

  await client.sendMessage({ text: 'I go' });
  await client.regenerate();
  expect((await loadHistory(handler)).messages.map(({ id }) => id)[3]).toBe(client.lastMessage?.id);
  await client.sendMessage({ text: 'I stay', messageId: client.messages[2]?.id ?? '' });

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'Good day.', 'I stay', 'So be it.']);
  expect((await textsOf('chat')).slice(-3)).toEqual(['Good day.', 'I stay', 'So be it.']);
});

test('answers a message again while its answer waits for a decision', async () => {
  const { client, textsOf } = chatOf([secret, 'Good day.']);
  await client.sendMessage({ text: 'Hi' });

  await client.regenerate();

  expect(client.messages.map(shownText)).toEqual(['Hi', 'Good day.']);
  expect(await textsOf('chat')).toEqual(['Hi', 'Good day.']);
});

test.each(['ai-sdk', 'sse'] as const)(
  'streams no text of a suspended answer that `holdStream` delays, with the protocol %s',
  async (protocol) => {
    const { handler } = chatOf([secret], { holdStream: true, protocol });

    const text = await (await post(handler, '', protocol === 'sse' ? { id: 'chat', message: 'Hi' } : ask())).text();

    expect(text.match(/secret/g)).toHaveLength(1);
    expect(text).not.toContain('text-delta');
  },
);

test('shows the text beside tool calls that `afterModel` suspended', async () => {
  const beside = says('The secret:', { calls: [{ name: 'look', input: {} }] });
  const { client, handler } = chatOf([beside, 'A ship.'], { holdStream: true });

  await client.sendMessage({ text: 'Hi' });
  expect(client.messages.map(shownText)).toEqual(['Hi', 'The secret:']);
  await client.addToolApprovalResponse({ id: 'call_1', approved: true });
  await settled(client);

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'The secret:A ship.']);
  expect((await loadHistory(handler)).messages.map(shownText)).toEqual(['Hi', 'The secret:A ship.']);
});

test.each([
  ['approve', 'The secret.'],
  ['deny', 'Good day.'],
  [{ deny: 'Say less.' }, 'Good day.'],
] as const)('takes the decision %j on an answer with the decide route', async (answer, text) => {
  const { handler } = chatOf([secret, 'Good day.'], { protocol: 'sse' });
  const asked = await readSSE(await post(handler, '', { id: 'chat', message: 'Hi' }));

  const decided = await readSSE(await post(handler, '/decide', { id: 'chat', decisions: { answer } }));

  expect(asked.at(-1)?.data).toMatchObject({
    result: {
      status: 'suspended',
      text: '',
      pending: [{ type: 'answer', id: 'answer', text: 'The secret.', reason: 'Read it first.' }],
    },
  });
  expect(asked.find(({ event }) => event === 'model-end')?.data).toEqual({ type: 'model-end', turn: 1 });
  expect(decided.at(-1)?.data).toMatchObject({ result: { status: 'completed', text, pending: [] } });
});

test('returns what waits for a decision with the history', async () => {
  const answer = chatOf([secret]);
  const call = chatOf([says('The secret:', { calls: [{ name: 'look', input: {} }] })]);
  const decided = chatOf(['Hello.']);
  for (const { client } of [answer, call, decided]) await client.sendMessage({ text: 'Hi' });

  expect(await loadHistory(answer.handler)).toMatchObject({
    pending: [{ type: 'answer', id: 'answer', text: 'The secret.' }],
  });
  expect(await loadHistory(call.handler)).toMatchObject({ pending: [{ id: 'call_1', name: 'look', input: {} }] });
  expect(await loadHistory(decided.handler)).toMatchObject({ pending: [] });
});

test('ends an AG-UI run with an interrupt, and sends the approved answer in the next run', async () => {
  const { handler } = chatOf([secret], { protocol: 'ag-ui' });
  const { client, run } = agUIClient(handler);
  client.addMessage({ id: 'u1', role: 'user', content: 'Hi' });

  const asked = await run();
  expect(asked.messages).toMatchObject([{ role: 'user' }]);
  const { messages, events } = await run({
    resume: [{ interruptId: 'answer', status: 'resolved', payload: { approved: true } }],
  });

  expect(asked.events.at(-1)).toMatchObject({
    outcome: {
      type: 'interrupt',
      interrupts: [{ id: 'answer', reason: 'answer', message: 'Read it first.', metadata: { text: 'The secret.' } }],
    },
  });
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
  expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'The secret.' }]);
});

test('sends no text of a suspended AG-UI answer that `holdStream` delays, and no denied answer', async () => {
  const { handler } = chatOf([secret, 'Good day.'], { protocol: 'ag-ui', holdStream: true });
  const input = { threadId: 'chat', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'Hi' }] };
  const asked = await readAgUIEvents(await post(handler, '', input));
  const waiting = await loadHistory(handler);

  const denied = await post(handler, '', { ...input, resume: [{ interruptId: 'answer', status: 'cancelled' }] });

  expect(asked.map(({ type }) => type)).toEqual(['RUN_STARTED', 'STEP_STARTED', 'STEP_FINISHED', 'RUN_FINISHED']);
  expect(waiting.messages).toEqual([{ id: 'u1', role: 'user', content: 'Hi' }]);
  expect(await denied.text()).toContain('Good day.');
  expect((await loadHistory(handler)).messages).toMatchObject([{ role: 'user' }, { content: 'Good day.' }]);
});

const MISSING = ['ERR_UI_DECISION_MISSING', expect.stringContaining('wait for a decision: "answer"')];
const UNKNOWN = ['ERR_UI_CALL_UNKNOWN', expect.stringContaining('call_1')];
const INVALID = ['ERR_UI_BODY_INVALID', expect.stringContaining('answer')];
const decide = (decisions: object) => ({ route: '/decide', body: { id: 'chat', decisions } });

test.each([
  ['a message', { route: '', body: ask() }, MISSING],
  ['a decision on a call', decide({ call_1: 'approve' }), UNKNOWN],
  ['a decision on the answer and on a call', decide({ answer: 'approve', call_1: 'approve' }), UNKNOWN],
  ['an invalid decision', decide({ answer: 'yes' }), INVALID],
] as const)('refuses %s while an answer waits for a decision', async (_title, { route, body }, error) => {
  const { client, handler, model, store } = chatOf([secret, 'Never.']);
  await client.sendMessage({ text: 'Hi' });
  const before = store.load('chat')?.length;

  const response = await post(handler, route, body);

  expect([response.headers.get('keelson-error'), await response.text()]).toEqual(error);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.status).toBeLessThan(500);
  expect([store.load('chat')?.length, model.requests.length]).toEqual([before, 1]);
});

test.each([
  ['has not waited', 'Hello.'],
  ['belongs to a tool call', calls('look')],
] as const)('refuses a decision on an answer that %s', async (_title, entry) => {
  const { client, handler, model } = chatOf([entry, 'Done.']);
  await client.sendMessage({ text: 'Hi' });
  const asked = model.requests.length;

  const response = await post(handler, '/decide', { id: 'chat', decisions: { answer: 'approve' } });

  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ error: { code: 'ERR_UI_CALL_UNKNOWN' } });
  expect(model.requests).toHaveLength(asked);
});

const approved = {
  id: 'run-of-the-answer',
  role: 'assistant',
  parts: [{ ...request, state: 'approval-responded', approval: { id: 'answer', approved: true } }],
};

test.each([
  ['ai-sdk', ask(), { id: 'chat', messages: [...ask().messages, approved] }],
  ['sse', { id: 'chat', message: 'Hi' }, { id: 'chat', decisions: { answer: 'approve' } }],
  [
    'ag-ui',
    { threadId: 'chat', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'Hi' }] },
    { threadId: 'chat', runId: 'r2', messages: [], resume: [{ interruptId: 'answer', status: 'cancelled' }] },
  ],
] as const)(
  'hides the answer from a person who must not decide, with the protocol %s',
  async (protocol, message, decision) => {
    const { handler, store } = chatOf([secret], { protocol, holdStream: true, mayDecide: () => false });
    const sent = await (await post(handler, '', message)).text();
    const loaded = await loadHistory(handler);
    const before = store.load('chat')?.length;

    const refused = await post(handler, '/decide', { id: 'chat', decisions: { answer: 'approve' } });
    const direct = await post(handler, '', decision);

    expect(sent + JSON.stringify(loaded)).not.toContain('secret');
    expect(sent).not.toContain('approval-request');
    expect(loaded).toMatchObject({ pending: [{ id: 'answer' }] });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'ERR_UI_DECISION_REFUSED' } });
    expect(direct.status).toBe(403);
    expect(store.load('chat')?.length).toBe(before);
  },
);

test('tells a page that must not decide which decisions are missing', async () => {
  const { client, handler } = chatOf([says('The secret:', { calls: [{ name: 'look', input: {} }] })], {
    mayDecide: async (_identity, chatId) => chatId !== 'chat',
  });

  await client.sendMessage({ text: 'Hi' });

  const { messages } = await loadHistory(handler);
  expect(client.lastMessage?.metadata).toMatchObject({ pending: ['call_1'] });
  for (const message of [client.lastMessage, messages.at(-1)]) {
    expect(message?.parts.at(-1)).toMatchObject({ type: 'tool-look', state: 'input-available' });
  }
});

test('refuses a second decision on an answer', async () => {
  const { handler } = chatOf([secret], { protocol: 'sse' });
  await (await post(handler, '', { id: 'chat', message: 'Hi' })).text();
  const approve = () => post(handler, '/decide', { id: 'chat', decisions: { answer: 'approve' } });

  const [first, second] = await Promise.all([approve(), approve()]);
  await Promise.all([first.text(), second.text()]);

  expect([first.status, second.status].sort()).toEqual([200, 409]);
});

/** Waits until the chat has answered the requests that it sends by itself. */
async function settled(client: ChatClient): Promise<void> {
  do await setImmediate();
  while (client.status === 'submitted' || client.status === 'streaming');
}

test.each([
  ['replaced', { denied: true }, 'Better.'],
  ['shown', { denied: false }, 'The secret.'],
])(
  'a page that comes back while a suspended answer is %s keeps the steps before it',
  async (_title, { denied }, text) => {
    const held = gate();
    let isDecided = false;
    const runLog = new MemoryRunLog();
    const wait: AgentLifecycle = { name: 'wait', afterAgent: () => (isDecided ? held.pass() : undefined) };
    const script = [calls('look'), secret, 'Better.'];
    const agent = new Agent({ model: scriptedModel(script), tools: [look], lifecycle: [reviewer(false), wait] });
    const options = { authorize: 'none', session: (id: string) => id, runLog } as const;
    const decider = createAgentHandler(agent, options);
    const reader = createAgentHandler(agent, { ...options, mayDecide: () => false });
    const first = new ChatClient(decider);
    await first.sendMessage({ text: 'Hi' });
    isDecided = true;
    void post(decider, '/decide', { id: 'chat', decisions: { answer: denied ? 'deny' : 'approve' } });
    await until(() => held.arrived === 1);

    const back = new ChatClient(reader);
    back.messages = [...(await loadHistory(reader)).messages];
    const resuming = back.resumeStream();
    await until(() => back.status === 'streaming');
    held.open();
    await resuming;

    const { messages } = await loadHistory(reader);
    expect(back.errors).toEqual([]);
    expect(back.messages.map(shownText)).toEqual(['Hi', text]);
    expect(kindsOf(back.messages)).toEqual(kindsOf(messages));
  },
);

function kindsOf(messages: ChatClient['messages']): readonly (readonly string[])[] {
  return messages.map(({ parts }) => parts.map(({ type }) => type));
}
