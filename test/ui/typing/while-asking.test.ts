import { Agent, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';

/** A chat whose payment waits for approval. The answer to the message after it waits at a gate. */
async function asking(options: Partial<AgentHandlerOptions> = {}) {
  const paid: string[] = [];
  const held = gate();
  const store = new MemorySessionStore();
  const model = scriptedModel([
    calls({ name: 'pay' }, { name: 'look' }),
    () => held.pass().then(() => 'Then 40.'),
    'Go on with what?',
  ]);
  const tools = [toolOf('pay', () => void paid.push('paid') as never), toolOf('look', () => 'seen')];
  const agent = new Agent({ model, tools, store, lifecycle: [approval({ tools: ['pay'] })] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, ...options });
  return { paid, held, store, model, handler };
}

/** A page that shows the question. */
async function openPage(options: Partial<AgentHandlerOptions> = {}) {
  const chat = await asking(options);
  const page = new ChatClient(chat.handler);
  await page.sendMessage({ text: 'Pay 400.' });
  return { ...chat, page };
}

describe('a message while a tool call waits for a decision', () => {
  test('denies the call, and is answered', async () => {
    const { page, held, model, paid, handler } = await openPage();
    held.open();

    await page.sendMessage({ text: 'Pay 40 instead.' });

    expect(page.errors).toEqual([]);
    expect(transcript(model.requests[1]?.messages ?? []).slice(1)).toEqual([
      'assistant: call call_1 pay, call call_2 look',
      'tool: call_1!The call was denied: The person went on without a decision., call_2=seen',
      'user: Pay 40 instead.',
    ]);
    expect(page.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(paid).toEqual([]);
    const { messages, pending } = await loadHistory(handler);
    expect(pending).toEqual([]);
    expect(messages.map(({ id }) => id)).toEqual(page.messages.map(({ id }) => id));
    expect(messages[1]?.parts).toContainEqual(
      expect.objectContaining({ toolCallId: 'call_1', state: 'output-denied' }),
    );
  });

  test('leaves the buttons of an open page without effect', async () => {
    const { page, held, paid } = await openPage();
    held.open();
    await page.sendMessage({ text: 'Pay 40 instead.' });

    await page.addToolApprovalResponse({ id: 'call_1', approved: true });
    await page.sendMessage({ text: 'Please go on.' });

    expect([page.errors, paid]).toEqual([[], []]);
  });

  test('is refused in words if another tab decides', async () => {
    const { page, held, paid, handler } = await openPage();
    const tab = new ChatClient(handler);
    tab.messages = (await loadHistory(handler)).messages;
    held.open();
    await page.sendMessage({ text: 'Pay 40 instead.' });

    await tab.addToolApprovalResponse({ id: 'call_1', approved: true });
    await until(() => tab.errors.length === 1);

    expect(tab.errors.map(({ message }) => message)).toEqual([expect.stringContaining('Load the history again.')]);
    expect(paid).toEqual([]);
  });

  test('is on the page that comes back while its answer runs', async () => {
    const { page, held, handler } = await openPage();
    const sending = page.sendMessage({ text: 'Pay 40 instead.' });
    await until(() => held.arrived === 1);

    const { messages, running } = await loadHistory(handler);
    const back = new ChatClient(handler);
    back.messages = [...messages];
    const resuming = back.resumeStream();
    await until(() => back.lastMessage?.role === 'assistant');
    held.open();
    await Promise.all([resuming, sending]);

    expect(running).toBe(true);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(back.messages.map(({ id }) => id)).toEqual(page.messages.map(({ id }) => id));
    expect(back.errors).toEqual([]);
  });

  test('that is sent again is stored once', async () => {
    const { held, handler, store } = await openPage();
    held.open();
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Pay 40 instead.' }] };

    await (await post(handler, '', { id: 'chat', messages: [message] })).text();
    await (await post(handler, '', { id: 'chat', messages: [message] })).text();

    expect(store.load('chat')?.entries.filter(({ id }) => id === 'm')).toHaveLength(1);
  });

  test.each([
    ['with `keep`', { whileAsking: 'keep' as const }],
    ['of a person who may not decide', { mayDecide: () => false }],
  ])('waits for the decision %s', async (_title, options) => {
    const { page, model, handler } = await openPage(options);

    await page.sendMessage({ text: 'Pay 40 instead.' });

    expect([page.errors, page.status, model.requests.length]).toEqual([[], 'ready', 1]);
    const { pending, waiting } = await loadHistory(handler);
    expect(pending).toMatchObject([{ id: 'call_1' }]);
    expect(waiting).toMatchObject([{ parts: [{ text: 'Pay 40 instead.' }] }]);
  });

  test('is refused with `refuse`, and the call still waits', async () => {
    const { page, model, handler } = await openPage({ whileAsking: 'refuse' });

    await page.sendMessage({ text: 'Pay 40 instead.' });

    expect(page.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('wait for a decision: "call_1"'),
    ]);
    expect(model.requests).toHaveLength(1);
    expect((await loadHistory(handler)).pending).toMatchObject([{ id: 'call_1' }]);
  });

  test('denies the call in the plain protocol, too', async () => {
    const { handler, held, paid } = await asking({ protocol: 'sse' });
    held.open();
    await (await post(handler, '', { id: 'chat', message: 'Pay 400.' })).text();

    const events = await readSSE(await post(handler, '', { id: 'chat', message: 'Pay 40 instead.' }));

    expect(events.at(-1)?.data).toMatchObject({ result: { status: 'completed', text: 'Then 40.' } });
    expect(paid).toEqual([]);
  });
});
