import { Agent, MemorySessionStore, messagesOf, type RunContext, textOf } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { storeOver } from '../../support/state/store-over.js';

/** Summarizes everything before the third question. */
const summarizer = {
  beforeModel: (messages: readonly unknown[], run: RunContext) => {
    if (messages.length === 5) run.summarize({ text: 'short', from: run.messages.at(-1) });
  },
};

/** Returns a store with a conversation that was summarized. */
async function compacted(): Promise<MemorySessionStore> {
  const store = new MemorySessionStore();
  const agent = new Agent({ model: scriptedModel(() => 'aye'), store, lifecycle: [summarizer] });
  await using session = await agent.session({ id: 's' });
  for (const input of ['one', 'two', 'three']) await session.run(input);
  return store;
}

/**
 * Runs two calls at the same time, of which one loads the earlier part of the conversation. Then another process asks a
 * question, and the session too. Returns what the call read, the ids that the session
 * knows before and after the question, and its messages.
 */
async function loadDuringRun(
  reading: SessionStore,
  store: MemorySessionStore,
  work: { quick(): unknown; end(): void },
) {
  let read = '';
  const slow = toolOf('slow', async (_input, { run }) => {
    read = JSON.stringify(await run.session?.allMessages());
    work.end();
  });
  const tools = [slow, toolOf('quick', work.quick)];
  const model = scriptedModel([calls({ name: 'slow' }, { name: 'quick' }), 'done', 'last']);
  await using session = await new Agent({ model, store: reading, tools }).session({ id: 's' });
  await session.run('go');
  const idsOfRun = session.entries.map(({ id }) => id);
  const other = new Agent({ model: scriptedModel(['theirs']), store: storeOver(store, {}) });
  await (await other.session({ id: 's' })).run('other');
  await session.run('more');
  return { read, idsOfRun, ids: session.entries.map(({ id }) => id), messages: session.messages };
}

type Loaded = Awaited<ReturnType<typeof loadDuringRun>>;

/** Expects that the session knows each entry of the store once, in order. */
function expectWhole({ read, idsOfRun, ids, messages }: Loaded, store: MemorySessionStore) {
  const { entries = [] } = store.load('s') ?? {};
  const stored = entries.map(({ id }) => id);
  expect(read).toContain('"tool-result"');
  expect(idsOfRun).toEqual(stored.slice(0, -4));
  expect(ids).toEqual(stored);
  expect(messages).toEqual(messagesOf(entries));
  expect(messages.slice(-4).map(textOf)).toEqual(['other', 'theirs', 'more', 'last']);
}

describe('a session that loads its earlier part while a result is stored knows each entry once', () => {
  test('if the answer to the append comes later', async () => {
    const store = await compacted();
    const held = gate();
    const reading = storeOver(store, {
      append: async (id, append) => {
        const answer = store.append(id, append);
        if (held.arrived === 0 && JSON.stringify(append.entries).includes('tool-result')) await held.pass();
        return answer;
      },
      load: async (id, query) => {
        if (query?.from === undefined) await until(() => held.arrived > 0);
        return store.load(id, query);
      },
    });

    expectWhole(await loadDuringRun(reading, store, { quick: () => 'q', end: held.open }), store);
  });

  test('if the answer to the load comes later', async () => {
    const store = await compacted();
    const read = gate();
    let appended = 0;
    const reading = storeOver(store, {
      append: async (id, append) => {
        const answer = store.append(id, append);
        if (JSON.stringify(append.entries).includes('tool-result')) appended += 1;
        return answer;
      },
      load: async (id, query) => {
        const stored = store.load(id, query);
        if (query?.from !== undefined) return stored;
        read.open();
        await until(() => appended > 0);
        return stored;
      },
    });

    expectWhole(await loadDuringRun(reading, store, { quick: read.pass, end: () => {} }), store);
  });
});

test('an input with the id of a summarized question is that question, and is not added again', async () => {
  const store = await compacted();
  const [first] = store.load('s')?.entries ?? [];
  const model = scriptedModel(['again']);
  await using session = await new Agent({ model, store }).session({ id: 's' });
  const before = store.load('s')?.length;

  const { turns } = await session.run('one', { id: first?.id ?? '' });

  expect([turns, store.load('s')?.length]).toEqual([0, before]);
  expect((await session.allMessages()).map(textOf)).toEqual(['one', 'aye', 'two', 'aye', 'three', 'aye']);
});
