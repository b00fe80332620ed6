import { Agent, type AgentLifecycle, MemorySessionStore, type ModelResponse, type ToolResult } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { approval } from '../support/agent/approval.js';
import { fastClock } from '../support/agent/fake-clock.js';
import { echo, toolOf } from '../support/agent/sample-tools.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

/** Stores the results of models and tools, as a durable engine does. Fails after `budget` calls. */
function journaled(journal: Map<string, string>, budget = Number.POSITIVE_INFINITY): AgentLifecycle {
  let made = 0;
  const step = async <T>(key: string, call: () => PromiseLike<T> | T): Promise<T> => {
    const kept = journal.get(key);
    if (kept !== undefined) return JSON.parse(kept);
    made += 1;
    if (made > budget) throw new Error('killed');
    const value = await call();
    journal.set(key, JSON.stringify(value));
    return value;
  };
  return {
    wrapModelCall: ({ run }, next) => step<ModelResponse>(`${run.id} ${run.turn}`, () => next()),
    wrapToolCall: ({ run, id }, next) => step<ToolResult>(`${run.id} ${id}`, () => next() as Promise<ToolResult>),
  };
}

const script = [
  calls({ name: 'echo', id: 'a', input: { text: 'a' } }, { name: 'slow', id: 'b' }),
  calls({ name: 'ask', id: 'c' }, { name: 'echo', id: 'd', input: { text: 'd' } }),
  'done',
  'again',
];

/** Executes a suspended run, its resumed run and another run in a session. Returns their results and the number of calls. */
async function play(journal: Map<string, string>, budget?: number): Promise<{ left: unknown; touched: number }> {
  let last = 0;
  const answered = [...journal.keys()].filter((key) => /^run-\d+ \d+$/.test(key)).length;
  const model = scriptedModel(script.slice(answered));
  const store = new MemorySessionStore();
  let ran = 0;
  const agent = new Agent({
    ...{ model, store, clock: fastClock(), logger: keepingLogger() },
    ids: { next: (kind) => `${kind}-${++last}` },
    tools: [echo, ...['slow', 'ask'].map((name) => toolOf(name, async () => `${name} ${++ran}`))],
    lifecycle: [approval('ask'), journaled(journal, budget)],
  });
  const session = await agent.session();
  const results = [
    await session.run('go'),
    await session.run('', { resume: { c: 'approve' } }),
    await session.run('and on'),
  ].map(({ status, text, messages, pending, turns }) => ({ status, text, messages, pending, turns }));
  return { left: { results, stored: await store.load(session.id) }, touched: model.requests.length + ran };
}

test('a journal of results replays a session without calling a model or a tool', async () => {
  const journal = new Map<string, string>();
  const { left } = await play(journal);
  const replayed = await play(journal);

  expect(journal.size).toBe(8);
  expect(replayed.touched).toBe(0);
  expect(JSON.stringify(replayed.left)).toBe(JSON.stringify(left));
});

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'a session that is stopped after %i calls continues to the same result',
  async (budget) => {
    const { left } = await play(new Map());
    const journal = new Map<string, string>();
    await expect(play(journal, budget)).rejects.toMatchObject({ code: 'ERR_LIFECYCLE_FAILED' });
    const { left: continued } = await play(journal);

    const counted = (text: string) => text.replace(/(slow|ask) \d/g, '$1');
    expect(counted(JSON.stringify(continued))).toBe(counted(JSON.stringify(left)));
  },
);
