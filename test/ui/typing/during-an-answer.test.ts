import { Agent, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, hangs, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler, MemoryRunLog, type WaitingPost } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';

interface Options extends Partial<AgentHandlerOptions> {
  readonly script?: Parameters<typeof scriptedModel>[0];
  readonly asks?: boolean;
}

/** A chat whose tool `work` waits at a gate, behind the handlers of two processes. */
function chat({ script = [calls('work'), 'Done.', 'Again.'], asks = false, ...options }: Options = {}) {
  const held = gate();
  const store = new MemorySessionStore();
  const model = scriptedModel(script);
  const logger = keepingLogger();
  const tools = [toolOf('work', () => held.pass().then(() => 'worked') as never), toolOf('pay', () => 'paid')];
  const lifecycle = asks ? [approval({ tools: ['pay'] })] : [];
  const all = { authorize: 'none', session: (id: string) => id, runLog: new MemoryRunLog(), logger } as const;
  const handlerOf = (place: SessionStore) =>
    createAgentHandler(new Agent({ model, tools, lifecycle, store: place, logger }), { ...all, ...options });
  const said = () => transcript(model.requests.at(-1)?.messages ?? []);
  return { held, store, model, logger, said, here: handlerOf(store), there: handlerOf(storeOver(store, {})) };
}

/** Sends the first message, and waits until the tool works. */
async function working(options: Options = {}) {
  const all = chat(options);
  const page = new ChatClient(all.here);
  const sending = page.sendMessage({ text: 'Go.' });
  await until(() => all.held.arrived === 1);
  return { ...all, page, sending };
}

const ask = (text: string, id = text) => ({
  id: 'chat',
  messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
});
const json = async (response: Promise<Response>) => (await response).json();
const kinds = (message: ChatClient['lastMessage']) => message?.parts.map(({ type }) => type);

async function idle({ store }: { readonly store: MemorySessionStore }) {
  await until(() => store.load('chat')?.holder === undefined);
}

describe('a message that is typed while the agent works', () => {
  test.each(['here', 'there'] as const)('joins the run, sent to the process %s', async (place) => {
    const { held, sending, said, page, ...handlers } = await working();

    const answer = await post(handlers[place], '', ask('And this.', 'm2'));
    held.open();
    await Promise.all([sending, answer.text()]);

    expect(said()).toEqual(['user: Go.', 'assistant: call call_1 work', 'tool: call_1=worked', 'user: And this.']);
    expect(page.errors).toEqual([]);
    const { messages, waiting } = await loadHistory(handlers[place]);
    expect(waiting).toBeUndefined();
    expect(page.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    expect(kinds(page.lastMessage)).toEqual(kinds(messages.at(-1)));
    expect(messages.at(-1)?.parts).toContainEqual({
      type: 'steering-message',
      id: 'm2',
      parts: [{ type: 'text', text: 'And this.' }],
    });
  });

  test('is answered on the page that typed it', async () => {
    const { held, sending, page, here } = await working();

    const typing = page.sendMessage({ text: 'And this.' });
    await until(() => page.bodies.length === 2);
    held.open();
    await Promise.all([sending, typing]);
    await page.sendMessage({ text: 'Next.' });

    expect(page.errors).toEqual([]);
    expect((await loadHistory(here)).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  test('joins in the order of two tabs, each once', async () => {
    const { held, sending, said, here, there } = await working();

    const first = await post(here, '', ask('One.'));
    const second = await post(there, '', ask('Two.'));
    const again = await post(here, '', ask('Two.'));
    held.open();
    await Promise.all([sending, first.text(), second.text(), again.text()]);

    expect(said().slice(-2)).toEqual(['user: One.', 'user: Two.']);
  });

  test('is a data part for version 6, and a message of its own for AG-UI', async () => {
    const { held, sending, here, store } = await working({ protocol: 'ai-sdk-6' });
    const answer = await post(here, '', ask('And this.', 'm2'));
    held.open();
    await Promise.all([sending, answer.text()]);

    const part = { type: 'data-steering-message', id: 'm2', data: { parts: [{ type: 'text', text: 'And this.' }] } };
    expect((await loadHistory(here)).messages.at(-1)?.parts).toContainEqual(part);
    const agent = new Agent({ model: scriptedModel([]), store });
    const agUI = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'ag-ui' });
    expect((await loadHistory(agUI)).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
  });

  test('is on the page that comes back, before and behind the answer', async () => {
    const { held, sending, here, store } = await working({ script: [calls('work'), calls('work'), 'Done.'] });
    const answer = await post(here, '', ask('And this.', 'm2'));
    await until(() => (store.load('chat')?.entries.length ?? 0) > 2);

    const { messages, running } = await loadHistory(here);
    const back = new ChatClient(here);
    back.messages = [...messages];
    const resuming = back.resumeStream();
    held.open();
    await Promise.all([sending, resuming, answer.text()]);

    expect([running, messages.map(({ role }) => role)]).toEqual([true, ['user']]);
    const { messages: stored } = await loadHistory(here);
    expect(back.messages.map(kinds)).toEqual(stored.map(kinds));
    expect(kinds(back.lastMessage)).toContain('steering-message');
  });

  test('can be sent without its answer, and waits', async () => {
    const { held, sending, here, said } = await working();

    const sent = await json(post(here, '/send', { id: 'chat', message: 'And this.', messageId: 'm2' }));
    const { waiting } = await loadHistory(here);
    held.open();
    await sending;

    expect(sent).toEqual({ id: 'm2', type: 'waiting' });
    expect(waiting).toEqual([{ id: 'm2', role: 'user', parts: [{ type: 'text', text: 'And this.' }] }]);
    expect(said().at(-1)).toBe('user: And this.');
    expect(await json(post(here, '/cancel', { id: 'chat', messageId: 'm2' }))).toEqual({ cancelled: false });
  });

  test('can be edited and taken back while it waits', async () => {
    const { held, sending, here, there, said } = await working();
    for (const text of ['One.', 'Two.']) await post(here, '/send', { id: 'chat', message: text, messageId: text });

    const edited = await json(post(there, '/edit', { id: 'chat', messageId: 'One.', message: 'Better.' }));
    const cancelled = await json(post(here, '/cancel', { id: 'chat', messageId: 'Two.' }));
    held.open();
    await sending;

    expect([edited, cancelled]).toEqual([{ edited: true }, { cancelled: true }]);
    expect(said().slice(3)).toEqual(['user: Better.']);
  });

  test('can be edited and taken back while a call waits for a decision', async () => {
    const { here, store } = chat({ script: [calls('pay')], asks: true, whileAsking: 'keep' });
    await (await post(here, '', ask('Pay.'))).text();
    await idle({ store });
    const shown = async () => (await loadHistory(here)).waiting?.map(({ parts }) => parts);
    const change = (path: string, message?: string) =>
      json(post(here, path, { id: 'chat', messageId: 'm2', ...(message !== undefined && { message }) }));
    await post(here, '/send', { id: 'chat', message: 'One.', messageId: 'm2' });

    const edited = await change('/edit', 'Better.');
    const after = await shown();
    const cancelled = await change('/cancel');

    expect([edited, after]).toEqual([{ edited: true }, [[{ type: 'text', text: 'Better.' }]]]);
    expect([cancelled, await shown()]).toEqual([{ cancelled: true }, undefined]);
    expect(await change('/edit', 'Late.')).toEqual({ edited: false });
    expect(await shown()).toBeUndefined();
  });

  test('with `now` keeps the text that was shown, on the page and in the history', async () => {
    const { here, page, said } = await (async () => {
      const all = chat({ script: [streams(['Once upon'], hangs()), 'Better.'] });
      const page = new ChatClient(all.here);
      void page.sendMessage({ text: 'Go.' });
      await until(() => JSON.stringify(page.messages).includes('Once upon'));
      return { ...all, page };
    })();

    await post(here, '/send', { id: 'chat', message: 'Stop that.', messageId: 'm2', when: 'now' });
    await until(() => page.status === 'ready');

    expect(said()).toEqual(['user: Go.', 'assistant: Once upon', 'user: Stop that.']);
    const { messages } = await loadHistory(here);
    expect(kinds(page.lastMessage)).toEqual(['step-start', 'text', 'steering-message', 'step-start', 'text']);
    expect(kinds(messages.at(-1))).toEqual(kinds(page.lastMessage));
  });

  test('is sent in the plain protocol, too', async () => {
    const { held, here } = chat({ protocol: 'sse' });
    const first = await post(here, '', { id: 'chat', message: 'Go.' });
    await until(() => held.arrived === 1);

    const answer = await post(here, '', { id: 'chat', message: 'And this.', messageId: 'm2' });
    held.open();

    const events = await readSSE(answer);
    expect(events.map(({ data }) => data)).toContainEqual({ type: 'post', turn: 1, id: 'm2', text: 'And this.' });
    await first.text();
  });

  test.each([
    ['/send', { when: 'soon', message: 'a' }, '`when` must be'],
    ['/send', { message: 7 }, '`message` must be'],
    ['/edit', { message: 'a' }, '`messageId` must be'],
    ['/cancel', {}, '`messageId` must be'],
  ])('is refused in words by %s with %j', async (route, body, words) => {
    const { here } = chat();

    const response = await post(here, route, { id: 'chat', ...body });

    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(words);
  });
});

describe('a message that waits while nothing runs', () => {
  test('is answered by a run that the handler starts', async () => {
    const all = chat({ script: ['Hello.'] });

    const sent = await json(post(all.here, '/send', { id: 'chat', message: 'Hi.', messageId: 'm' }));
    await until(() => all.model.requests.length === 1);
    await idle(all);

    expect(sent).toEqual({ id: 'm', type: 'waiting' });
    const { messages, waiting } = await loadHistory(all.here);
    expect([waiting, messages.map(({ role }) => role)]).toEqual([undefined, ['user', 'assistant']]);
  });

  test('is answered after the failure of the run that it was sent to', async () => {
    const failing = () => Promise.reject(new Error('no model'));
    const all = await working({ script: [calls('work'), failing, 'Here.'] });
    await post(all.here, '/send', { id: 'chat', message: 'And this.', when: 'after-answer' });

    all.held.open();
    await all.sending;
    await until(() => all.model.requests.length === 3);
    await idle(all);

    expect(all.said().at(-1)).toBe('user: And this.');
    expect((await loadHistory(all.here)).waiting).toBeUndefined();
  });

  test('is given to `onPost`, which answers it elsewhere', async () => {
    const posts: WaitingPost[] = [];
    const { here, model } = chat({ script: ['Hello.'], onPost: (waiting) => void posts.push(waiting) });

    await post(here, '/send', { id: 'chat', message: 'Hi.', messageId: 'm' });
    await until(() => posts.length === 1);

    expect(posts).toEqual([{ chatId: 'chat', sessionId: 'chat', messageId: 'm', identity: undefined }]);
    expect(model.requests).toEqual([]);
  });

  test('waits for the next message if a person has stopped the run', async () => {
    const all = await working({ script: [calls('work'), 'Both.'] });
    await post(all.here, '/send', { id: 'chat', message: 'And this.' });

    await post(all.here, '/stop', { id: 'chat' });
    await all.sending;
    const { waiting } = await loadHistory(all.here);
    all.held.open();
    await (await post(all.here, '', ask('Next.'))).text();

    expect(waiting).toHaveLength(1);
    expect(all.said().slice(-2)).toEqual(['user: And this.', 'user: Next.']);
    expect(all.logger.lines).toEqual([]);
  });
});

describe('a message that was typed before a call waits for a decision', () => {
  const script = [calls({ name: 'work' }, { name: 'pay' }), 'Gone on.'];

  test('denies the call of a person who may decide', async () => {
    const all = await working({ script, asks: true });
    await post(all.here, '/send', { id: 'chat', message: 'No, wait.' });

    all.held.open();
    await all.sending;
    await until(() => all.model.requests.length === 2);
    await idle(all);

    expect(all.said().slice(2)).toEqual([
      'tool: call_1=worked, call_2!The call was denied: The person went on without a decision.',
      'user: No, wait.',
    ]);
  });

  test.each([
    ['of a person who may not decide', undefined],
    ['with `keep`', 'keep' as const],
  ])('waits for the decision %s', async (_title, whileAsking) => {
    let decides = whileAsking === 'keep';
    const all = await working({ script, asks: true, whileAsking, mayDecide: () => decides });
    await post(all.here, '/send', { id: 'chat', message: 'Hm.' });
    all.held.open();
    await all.sending;
    await idle(all);

    decides = true;
    await (await post(all.here, '/decide', { id: 'chat', decisions: { call_2: 'approve' } })).text();

    expect(all.said().slice(2)).toEqual(['tool: call_1=worked, call_2=paid', 'user: Hm.']);
    expect(all.model.requests).toHaveLength(2);
  });
});
