import { setImmediate } from 'node:timers/promises';
import { Agent, defineTool, MemorySessionStore, type ToolContext, textOf } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, fails, hangs, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { bodyOf, shownText } from '../../support/ui/read-ui-message.js';

const paid: number[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  input: z.object({ amount: z.number() }),
  execute: ({ amount }) => {
    paid.push(amount);
    return `paid ${amount}`;
  },
});

function chatOf(script: readonly ScriptEntry[], options: Partial<AgentHandlerOptions> = {}) {
  const store = new MemorySessionStore();
  const model = scriptedModel(script);
  const agent = new Agent({ model, store, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, logger, ...options });
  const textsOf = async (id: string) => {
    await using session = await agent.session({ id });
    return session.messages.map(textOf);
  };
  return { store, model, agent, handler, textsOf, client: new ChatClient(handler) };
}

test('answers the messages of a chat, and stores them in its session', async () => {
  const { client, textsOf, model } = chatOf(['Hello.', 'Bye.']);

  await client.sendMessage({ text: 'Hi' });
  await client.sendMessage({ text: 'I go' });

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'Hello.', 'I go', 'Bye.']);
  expect(await textsOf('chat')).toEqual(['Hi', 'Hello.', 'I go', 'Bye.']);
  expect(model.requests[1]?.messages).toHaveLength(3);
});

test('returns the history with the message ids that the page got', async () => {
  const { client, handler } = chatOf(['Hello.']);
  await client.sendMessage({ text: 'Hi' });

  const { messages, running } = await loadHistory(handler);

  expect(messages[1]?.id).toBe(client.messages[1]?.id);
  expect(messages[1]?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hello.' });
  expect(running).toBe(false);
});

test('continues a chat after the page was loaded again', async () => {
  const { client, handler } = chatOf(['Hello.', 'Bye.']);
  await client.sendMessage({ text: 'Hi' });
  const reloaded = new ChatClient(handler);
  reloaded.messages = (await loadHistory(handler)).messages;

  await reloaded.sendMessage({ text: 'I go' });

  expect(reloaded.errors).toEqual([]);
  expect(reloaded.messages.map(shownText)).toEqual(['Hi', 'Hello.', 'I go', 'Bye.']);
});

test('runs an approved tool call, and shows its output in the same message', async () => {
  paid.length = 0;
  const { client } = chatOf([calls('pay', { amount: 40 }), 'Paid.']);
  await client.sendMessage({ text: 'Pay 40' });
  expect(paid).toEqual([]);

  await client.addToolApprovalResponse({ id: 'call_1', approved: true });
  await settled(client);

  expect(client.errors).toEqual([]);
  expect(paid).toEqual([40]);
  expect(client.messages).toHaveLength(2);
  expect(client.lastMessage?.parts).toContainEqual(
    expect.objectContaining({ type: 'tool-pay', state: 'output-available', output: 'paid 40' }),
  );
  expect(client.lastMessage && shownText(client.lastMessage)).toBe('Paid.');
});

test('gives the model the reason of a denied tool call', async () => {
  paid.length = 0;
  const { client, model } = chatOf([calls('pay', { amount: 40 }), 'As you wish.']);
  await client.sendMessage({ text: 'Pay 40' });

  await client.addToolApprovalResponse({ id: 'call_1', approved: false, reason: 'Too much.' });
  await settled(client);

  expect(paid).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Too much.');
});

test('answers a message again in a new branch, and keeps the old answer', async () => {
  const { client, textsOf, store } = chatOf(['Hello.', 'Good day.']);
  await client.sendMessage({ text: 'Hi' });

  await client.regenerate();

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi', 'Good day.']);
  expect(await textsOf('chat')).toEqual(['Hi', 'Good day.']);
  expect(JSON.stringify(store.load('chat')?.entries)).toContain('Hello.');
});

test('replaces an edited message and everything after it', async () => {
  const { client, textsOf, store } = chatOf(['Hello.', 'Bye.', 'Good day.']);
  await client.sendMessage({ text: 'Hi' });
  await client.sendMessage({ text: 'I go' });

  await client.sendMessage({ text: 'Hi, Bo', messageId: client.messages[0]?.id ?? '' });

  expect(client.errors).toEqual([]);
  expect(client.messages.map(shownText)).toEqual(['Hi, Bo', 'Good day.']);
  expect(await textsOf('chat')).toEqual(['Hi, Bo', 'Good day.']);
  expect(JSON.stringify(store.load('chat')?.entries)).toContain('Bye.');
});

test('sends a message again after a failed run', async () => {
  const { client, textsOf } = chatOf([fails('down'), 'Hello.']);
  await client.sendMessage({ text: 'Hi' });
  expect(client.status).toBe('error');

  await client.regenerate();

  expect(client.messages.map(shownText)).toEqual(['Hi', 'Hello.']);
  expect(await textsOf('chat')).toEqual(['Hi', 'Hello.']);
});

test('edits a message after an earlier message has failed', async () => {
  const { client, textsOf } = chatOf([fails('down'), 'Hello.', 'Good day.']);
  await client.sendMessage({ text: 'First' });
  await client.sendMessage({ text: 'Hi' });

  await client.sendMessage({ text: 'Hi, Bo', messageId: client.messages.at(-2)?.id ?? '' });

  expect(client.errors).toHaveLength(1);
  expect(await textsOf('chat')).toEqual(['First', 'Hi, Bo', 'Good day.']);
});

test('keeps what was said if the page stops the answer', async () => {
  const { client, textsOf, agent } = chatOf([streams(['Hel'], hangs()), 'Bye.'], { onDisconnect: 'abort' });
  const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
  const sent = client.sendMessage({ text: 'Hi' });
  await shown;
  await setImmediate();

  await client.stop();
  await sent;
  await client.sendMessage({ text: 'I go' });

  expect(client.errors).toEqual([]);
  expect(await textsOf('chat')).toEqual(['Hi', 'Hel', 'I go', 'Bye.']);
});

test('stops the answer of another tab', async () => {
  const { client, handler, textsOf, agent } = chatOf([streams(['Hel'], hangs())]);
  const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
  const sent = client.sendMessage({ text: 'Hi' });
  await shown;
  const { running } = await loadHistory(handler);

  const response = await post(handler, '/stop', { id: 'chat' });
  await sent;

  expect(running).toBe(true);
  expect(await response.json()).toEqual({ stopped: true });
  expect(await textsOf('chat')).toEqual(['Hi', 'Hel']);
  expect(await (await post(handler, '/stop', { id: 'chat' })).json()).toEqual({ stopped: false });
});

test('refuses a second run of a session while a run is active that ends with its page', async () => {
  const { client, handler, agent } = chatOf([streams(['Hel'], hangs())], { queueMs: 0, onDisconnect: 'abort' });
  const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
  const sent = client.sendMessage({ text: 'Hi' });
  await shown;

  const response = await post(handler, '', {
    id: 'chat',
    messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  });

  expect(response.status).toBe(409);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('keelson-error')).toBe('ERR_UI_SESSION_BUSY');
  await client.stop();
  await sent;
});

test('runs a second request after the first if the first ends in time', async () => {
  const { handler, textsOf } = chatOf(['One.', 'Two.'], { queueMs: 5_000 });
  const send = (text: string) =>
    post(handler, '', { id: 'chat', messages: [{ id: text, role: 'user', parts: [{ type: 'text', text }] }] });

  const responses = await Promise.all([send('A'), send('B')]);

  await Promise.all(responses.map((response) => response.text()));
  expect(await textsOf('chat')).toEqual(['A', 'One.', 'B', 'Two.']);
});

test('aborts the run if the client disconnects', async () => {
  const { handler, agent } = chatOf([streams(['Hel'], hangs())], { onDisconnect: 'abort' });
  const failed = new Promise((resolve) => agent.once('run-error', ({ error }) => resolve(error)));
  const response = await post(handler, '', {
    id: 'chat',
    messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  });

  const reader = bodyOf(response).getReader();
  await reader.read();

  await reader.cancel();

  expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
});

test('aborts the run if the signal of the request aborts', async () => {
  const { handler, agent } = chatOf([streams(['Hel'], hangs())], { onDisconnect: 'abort' });
  const failed = new Promise((resolve) => agent.once('run-error', ({ error }) => resolve(error)));
  const abort = new AbortController();
  const message = { id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
  const response = await handler(
    new Request('http://localhost/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages: [message] }),
      signal: abort.signal,
    }),
  );

  const reader = bodyOf(response).getReader();
  await reader.read();

  abort.abort();

  expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  await reader.cancel();
});

test('starts no run for a client that disconnects while its request waits', async () => {
  const { handler, agent, model, textsOf } = chatOf([streams(['Hel'], hangs()), 'Never.'], {
    protocol: 'sse',
    queueMs: 60_000,
    onDisconnect: 'abort',
  });
  const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
  const first = await post(handler, '', { id: 'chat', message: 'Hi' });
  await shown;
  const abort = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ id: 'chat', message: 'And now?' });
  const init = { method: 'POST', headers, body, signal: abort.signal };
  const second = handler(new Request('http://localhost/api/chat', init));
  await setImmediate();

  abort.abort();
  await first.body?.cancel();
  await (await second).text();

  expect(model.requests).toHaveLength(1);
  expect(agent.status()).toMatchObject({ runs: 0, sessions: 0 });
  expect(await textsOf('chat')).toEqual(['Hi', 'Hel']);
});

test('decides on tool calls with the decide route', async () => {
  paid.length = 0;
  const { handler } = chatOf([calls('pay', { amount: 40 }), 'Paid.'], { protocol: 'sse' });
  await (await post(handler, '', { id: 'chat', message: 'Pay 40' })).text();

  const response = await post(handler, '/decide', { id: 'chat', decisions: { call_1: 'approve' } });

  expect((await readSSE(response)).at(-1)?.data).toMatchObject({ result: { text: 'Paid.' } });
  expect(paid).toEqual([40]);
});

test('gives the run the context of the identity', async () => {
  const seen: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    execute: (_input, { context }: ToolContext<{ user: string }>) => {
      seen.push(context);
      return 'ok';
    },
  });
  const agent = new Agent<{ user: string }>({ model: scriptedModel([calls('look'), 'Yes.']), tools: [look] });
  const handler = createAgentHandler(agent, {
    authorize: () => ({ name: 'ada' }),
    session: (chatId, { name }) => `${name}/${chatId}`,
    context: ({ name }) => ({ user: name }),
    protocol: 'sse',
  });

  await (await post(handler, '', { id: 'chat', message: 'Look' })).text();

  expect(seen).toEqual([{ user: 'ada' }]);
});

test.each([
  ['no `authorize`', { session: (id: string) => id }, /authorize/],
  ['no `session`', { authorize: 'none' }, /session/],
  ['an origin with a path', { authorize: 'none', session: (id: string) => id, origins: ['http://a.test/'] }, /origins/],
  ['an unknown protocol', { authorize: 'none', session: (id: string) => id, protocol: 'ws' }, /protocol/],
])('cannot be made with %s', (_title, options, message) => {
  const agent = new Agent({ model: scriptedModel([]) });

  expect(() => createAgentHandler(agent, options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_OPTION_INVALID' }),
  );
  expect(() => createAgentHandler(agent, options as never)).toThrow(message);
});

test('answers 401 without an identity, and lets `authorize` answer itself', async () => {
  const denied = chatOf([], { authorize: () => undefined });
  const own = chatOf([], { authorize: () => new Response('Sign in.', { status: 403 }) });

  const response = await post(denied.handler, '', { id: 'chat' });

  expect(response.status).toBe(401);
  expect(response.headers.get('keelson-error')).toBe('ERR_UI_UNAUTHORIZED');
  expect(await (await post(own.handler, '', {})).text()).toBe('Sign in.');
});

test('answers 404 for a chat of another identity', async () => {
  const { handler } = chatOf([], {
    authorize: () => 'ada',
    session: (chatId, user) => (chatId.startsWith(`${user}-`) ? chatId : undefined),
  });

  const send = await post(handler, '', {
    id: 'bo-1',
    messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  });

  expect(send.status).toBe(404);
  expect((await post(handler, '/stop', { id: 'bo-1' })).status).toBe(404);
  expect((await handler(new Request('http://localhost/api/chat/history?id=bo-1'))).status).toBe(404);
});

test('hides the message of an internal error, and logs it', async () => {
  const logged: unknown[] = [];
  const logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (...entry: unknown[]) => logged.push(entry),
  };
  const session = () => {
    throw new TypeError('cannot reach db.internal');
  };
  const { handler } = chatOf([], { session, logger });

  const response = await post(handler, '/stop', { id: 'chat' });

  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: { code: 'ERR_UI_FAILED', message: 'The run failed.' } });
  expect(logged).toHaveLength(1);
});

/** Waits until the chat has answered the requests that it sends by itself. */
async function settled(client: ChatClient): Promise<void> {
  do await setImmediate();
  while (client.status === 'submitted' || client.status === 'streaming');
}
