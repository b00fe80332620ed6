import {
  Agent,
  type AgentOptions,
  type Entry,
  HookAction,
  MemorySessionStore,
  messagesOf,
  modelMessagesOf,
  type ToolContext,
} from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, fails, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';

const sessionOf = (script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) => {
  const model = scriptedModel(script);
  return { model, opening: new Agent({ model, ...options }).session({ id: 's' }) };
};
const entriesOf = async (store: SessionStore) => (await store.load('s'))?.entries ?? [];
const shown = (entries: readonly Entry[]) => transcript(messagesOf(entries));

describe('the entries of a run', () => {
  test('have ids, parents, times, the run and the agent', async () => {
    const { opening } = sessionOf(['hello'], { name: 'desk' });
    const session = await opening;

    await session.run('hi', { id: 'm1', by: 'ada' });

    const [question, answer] = session.entries;
    const said = { at: expect.any(Number), run: expect.stringMatching(/^run_/), agent: 'desk' };
    expect(question).toEqual({
      ...said,
      id: 'm1',
      by: 'ada',
      body: { type: 'message', message: { role: 'user', content: 'hi' }, turn: 0 },
    });
    expect(answer).toMatchObject({ ...said, parent: 'm1', body: { type: 'message', turn: 1 } });
    expect(answer?.run).toBe(question?.run);
  });

  test('are the question before the model is called, the calls before a tool runs, and each result when it ends', async () => {
    const store = new MemorySessionStore();
    const held = gate();
    const seen: string[][] = [];
    const look = async () => void seen.push([...shown(await entriesOf(store))]);
    const tools = [toolOf('quick', () => 'q'), toolOf('slow', () => look().then(() => held.pass()))];
    const { opening } = sessionOf([() => look().then(() => calls({ name: 'quick' }, { name: 'slow' })), 'done'], {
      store,
      tools,
    });

    const running = (await opening).run('go');
    await until(() => held.arrived === 1);
    await until(() => store.load('s')?.length === 3);
    await look();
    held.open();
    await running;

    const called = ['user: go', 'assistant: call call_1 quick, call call_2 slow'];
    expect(seen).toEqual([['user: go'], called, [...called, 'tool: call_1=q']]);
  });
});

describe('an input with an id', () => {
  test('goes on from the stored question when the model call failed, and adds it once', async () => {
    const { model, opening } = sessionOf([fails('overloaded'), 'fine']);
    const session = await opening;
    await rejectionOf(session.run('hi', { id: 'm1' }));

    const { text } = await session.run('hi', { id: 'm1' });

    expect(text).toBe('fine');
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(['user: hi']);
    expect(transcript(session.messages)).toEqual(['user: hi', 'assistant: fine']);
  });

  test('that was answered gives the stored answer, without a model call', async () => {
    const { model, opening } = sessionOf(['fine']);
    const session = await opening;
    const first = await session.run('hi', { id: 'm1' });

    const again = await session.run('hi', { id: 'm1' });

    expect(again).toMatchObject({ status: 'completed', text: 'fine', turns: 0, messages: first.messages });
    expect(model.requests).toHaveLength(1);
    expect(session.entries).toHaveLength(2);
  });

  test('that was answered is checked with the output schema of each call', async () => {
    const { model, opening } = sessionOf(['{"total":40}']);
    const session = await opening;
    const asked = { id: 'm1', output: z.object({ total: z.number() }) };
    await session.run('The fee?', asked);

    const again = await session.run('The fee?', asked);
    const other = rejectionOf(session.run('The fee?', { id: 'm1', output: z.object({ currency: z.string() }) }));

    expect(again).toMatchObject({ text: '{"total":40}', output: { total: 40 }, turns: 0 });
    expect(await other).toMatchObject({ code: 'ERR_OUTPUT_INVALID', text: '{"total":40}' });
    expect([model.requests.length, session.entries.length]).toEqual([1, 2]);
  });

  test('gives its own answer after a later question was answered, and while one waits', async () => {
    const { opening } = sessionOf(['one', 'two', calls('ask')], {
      tools: [toolOf('ask', () => 'never')],
      lifecycle: [{ wrapToolCall: () => HookAction.suspend('Ask first.') }],
    });
    const session = await opening;
    const first = await session.run('a', { id: 'a' });
    await session.run('b', { id: 'b' });
    expect(await session.run('a', { id: 'a' })).toMatchObject({ text: 'one', messages: first.messages });

    await session.run('c', { id: 'c' });

    expect(await session.run('b', { id: 'b' })).toMatchObject({ text: 'two', turns: 0 });
    expect(await rejectionOf(session.run('c', { id: 'c' }))).toMatchObject({ code: 'ERR_RESUME_INVALID' });
  });

  test('is known to a new process, also in front of a summary', async () => {
    const store = new MemorySessionStore();
    const lifecycle: AgentOptions['lifecycle'] = [
      {
        beforeModel(messages, run) {
          if (messages.at(-1)?.role !== 'tool') return;
          run.summarize({ text: 'in short', messages });
          return run.messages;
        },
      },
    ];
    const options = { store, lifecycle, tools: [toolOf('work', () => 'worked')] };
    await (await sessionOf([calls('work'), 'fine'], options).opening).run('hi', { id: 'm1' });

    const { model, opening } = sessionOf([], options);
    const session = await opening;
    const again = await session.run('hi', { id: 'm1' });

    expect(again).toMatchObject({ text: 'fine', turns: 0 });
    expect(model.requests).toEqual([]);
    expect(session.entries).toEqual(await entriesOf(store));
  });

  test('that comes with decisions on open calls has its id in the record', async () => {
    const { opening } = sessionOf([calls('ask'), fails('overloaded'), 'fine'], {
      tools: [toolOf('ask', () => 'asked')],
      lifecycle: [{ wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('Ask first.')) }],
    });
    const session = await opening;
    await session.run('a', { id: 'a' });
    await rejectionOf(session.run('b', { id: 'b', by: 'ada', resume: { call_1: 'approve' } }));

    await session.run('b', { id: 'b' });

    expect(transcript(session.messages).slice(3)).toEqual(['user: b', 'assistant: fine']);
    expect(session.entries.find(({ id }) => id === 'b')).toMatchObject({ by: 'ada' });
  });

  test('of another branch goes on from there', async () => {
    const { opening } = sessionOf([fails('overloaded'), 'other', 'late']);
    const session = await opening;
    await rejectionOf(session.run('hi', { id: 'm1' }));
    await session.run('else', { at: null });

    await session.run('hi', { id: 'm1' });

    expect(transcript(session.messages)).toEqual(['user: hi', 'assistant: late']);
    expect(session.entries).toHaveLength(4);
  });
});

describe('history', () => {
  test('returns pages of entries, the last ones first, also what was not loaded', async () => {
    const store = new MemorySessionStore();
    const { opening } = sessionOf(['1', '2', '3', '4'], { store });
    const session = await opening;
    for (const id of ['a', 'b', 'c', 'd']) await session.run(id, { id });
    const ids = session.entries.map(({ id }) => id);

    expect((await session.history({ limit: 3 })).map(({ id }) => id)).toEqual(ids.slice(5));
    expect((await session.history({ before: 'c', limit: 3 })).map(({ id }) => id)).toEqual(ids.slice(1, 4));
    expect((await session.history({ before: 'a' })).map(({ id }) => id)).toEqual([]);
    expect(await rejectionOf(session.history({ before: 'z' }))).toMatchObject({ code: 'ERR_ENTRY_INVALID' });
  });

  test('opens a compacted conversation from the summary on, and loads the rest when it is needed', async () => {
    const store = new MemorySessionStore();
    const lifecycle = [
      {
        beforeModel: (messages: readonly { role: string }[], run: import('keelson').RunContext) =>
          messages.length === 5 ? run.summarize({ text: 'short', from: run.messages.at(-1) }) : undefined,
      },
    ];
    const { opening } = sessionOf(['1', '2', '3'], { store, lifecycle });
    const session = await opening;
    for (const id of ['a', 'b', 'c']) await session.run(id, { id });
    const all = transcript(session.messages);

    const { model, opening: other } = sessionOf(['4', '5'], { store });
    const reopened = await other;

    expect(reopened.entries[0]?.id).toBe('c');
    expect(transcript(reopened.messages)).toEqual(['user: c', 'assistant: 3']);
    await reopened.run('d');
    expect(transcript(model.requests[0]?.messages ?? []).slice(1)).toEqual(['user: c', 'assistant: 3', 'user: d']);
    expect((await reopened.history({ before: 'c', limit: 1 })).map(({ parent }) => parent)).toEqual(['b']);
    await reopened.run('e', { at: 'a' });
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(['user: a', 'user: e']);
    expect(transcript(await (await sessionOf([], { store }).opening).allMessages())).not.toEqual(all);
    expect(all).toHaveLength(6);
  });
});

describe('a process that stops', () => {
  /** Runs until a tool hangs, and lets the time of the claim pass. */
  async function crashed() {
    const clock = manualClock();
    const store = new MemorySessionStore({ clock });
    const began: ToolContext[] = [];
    const pay = toolOf('pay', (_input, context) => {
      began.push(context);
      return began.length === 1 ? new Promise(() => {}) : 'paid';
    });
    const options = { store, tools: [pay] };
    // The clock of the process that dies stands still, so that it renews nothing.
    const dying = await sessionOf([calls('pay')], { ...options, clock: manualClock() }).opening;
    void dying.run('Pay.').catch(() => {});
    await until(() => began.length === 1);
    await clock.advance(30_001);
    // Another process does not wait in the queue of this one.
    return { store, began, options: { ...options, store: storeOver(store, {}) } };
  }

  test('during a tool: the next run closes the call as one that may have happened', async () => {
    const { store, began, options } = await crashed();
    const { model, opening } = sessionOf(['I see.'], options);

    await (await opening).run('And?');

    const read = transcript(model.requests[0]?.messages ?? []);
    expect(read[2]).toMatch(/^tool: call_1!The process stopped during this call; it may have happened/);
    expect(read.slice(3)).toEqual(['user: And?']);
    expect(shown(await entriesOf(store)).slice(0, 4)).toEqual(read);
    expect(began).toHaveLength(1);
  });

  test('during a tool: `resume` runs the call again, with the same key, and says that it is the second attempt', async () => {
    const { store, began, options } = await crashed();
    const session = await sessionOf(['Paid.'], options).opening;

    const { text } = await session.run('', { resume: { call_1: 'approve' } });

    expect(text).toBe('Paid.');
    expect(began.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(began.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    const bodies = (await entriesOf(store)).map(({ body }) => body);
    expect(bodies[2]).toEqual({ type: 'decision', call: 'call_1', decision: 'again' });
    expect(bodies[3]).toMatchObject({ type: 'message', attempt: 2 });
  });
});

test('a reader passes over types, roles and parts that it does not know', () => {
  const message = (id: string, parent: string | undefined, role: string): Entry => ({
    ...{ id, parent, at: 0 },
    body: { type: 'message', message: { role, content: id } as never },
  });
  const later = { id: 'x', parent: 'a', at: 0, body: { type: 'later' } } as unknown as Entry;
  const entries = [message('a', undefined, 'user'), later, message('b', 'a', 'robot'), message('c', 'b', 'user')];

  expect(messagesOf(entries).map(({ content }) => content)).toEqual(['a', 'c']);
  expect(modelMessagesOf(entries)).toEqual(messagesOf(entries));
});
