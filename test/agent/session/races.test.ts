import { Agent, HookAction, MemorySessionStore, messagesOf, type RunContext, type RunError } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, delays, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until, within } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

/** A store whose next operation waits at a gate: a claim or a load after it has read, an append before it writes. */
function gatedStore() {
  const inner = new MemorySessionStore();
  const held = gate();
  let next: 'claim' | 'load' | 'append' | undefined;
  let passing = 0;
  const waits = (operation: 'claim' | 'load' | 'append') => {
    if (next !== operation) return undefined;
    passing -= 1;
    if (passing >= 0) return undefined;
    next = undefined;
    return held.pass();
  };
  const store = storeOver(inner, {
    async load(...given) {
      const stored = await inner.load(...given);
      await waits('load');
      return stored;
    },
    async claim(...given) {
      const answer = await inner.claim(...given);
      await waits('claim');
      return answer;
    },
    async append(...given) {
      await waits('append');
      return inner.append(...given);
    },
  });
  const texts = async () => transcript(messagesOf((await inner.load('s'))?.entries ?? []));
  /** Holds the next operation of a kind, after some that pass. */
  const hold = (operation: 'claim' | 'load' | 'append', after = 0) => {
    next = operation;
    passing = after;
  };
  return { store, held, texts, hold };
}

async function sessionOf(store: SessionStore, script: readonly ScriptEntry[]) {
  const agent = new Agent({ model: scriptedModel(script), store, tools: [toolOf('work', () => 'worked')] });
  const session = await agent.session({ id: 's' });
  await session.run('hello');
  return session;
}

describe('a run that is aborted during an operation of the store', () => {
  const before = ['user: hello', 'assistant: hi'];
  const after = ['user: next', 'assistant: call call_1 work', 'tool: call_1=worked', 'assistant: done'];

  test('during its first append: the next run waits for it, and starts from the question', async () => {
    const { store, held, texts, hold } = gatedStore();
    const session = await sessionOf(store, ['hi', delays(20, calls('work')), 'done']);
    const stopper = new AbortController();
    hold('append');
    const aborted = rejectionOf(session.run('first', { signal: stopper.signal }));
    await until(() => held.arrived === 1);

    stopper.abort();
    expect(await aborted).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    const running = session.run('next');
    await pause(5);
    held.open();
    const { history } = await running;

    const all = [...before, 'user: first', ...after];
    expect(transcript(history)).toEqual(all);
    expect(await texts()).toEqual(all);
    expect(transcript(session.messages)).toEqual(all);
  });

  test('during the last append of a suspended run: the session waits for a decision', async () => {
    const { store, held, texts, hold } = gatedStore();
    const suspend = { name: 'ask', wrapToolCall: () => HookAction.suspend('ask') };
    const agent = new Agent({
      model: scriptedModel([calls('work'), 'done']),
      store,
      tools: [toolOf('work', () => 'worked')],
      lifecycle: [suspend],
    });
    const session = await agent.session({ id: 's' });
    const stopper = new AbortController();
    hold('append', 2);
    const aborted = rejectionOf(session.run('first', { signal: stopper.signal }));
    await until(() => held.arrived === 1);

    stopper.abort();
    held.open();
    const { history } = (await aborted) as RunError;

    expect(transcript(history)).toEqual(['user: first', 'assistant: call call_1 work']);
    expect(await rejectionOf(session.run('next'))).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['call_1'] });
    expect((await session.run('', { resume: { call_1: 'deny' } })).text).toBe('done');
    expect((await texts()).slice(0, 2)).toEqual(transcript(history));
  });

  test('during its claim: the next run waits for the late response, and the claim is not left behind', async () => {
    const { store, held, texts, hold } = gatedStore();
    const session = await sessionOf(store, ['hi', calls('work'), 'done']);
    const stopper = new AbortController();
    hold('claim');
    const aborted = rejectionOf(session.run('first', { signal: stopper.signal }));
    await until(() => held.arrived === 1);

    stopper.abort();
    expect(await aborted).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    const running = session.run('next');
    await pause(5);
    held.open();

    expect((await running).text).toBe('done');
    expect(await texts()).toEqual([...before, ...after]);
  });
});

test('a queued run of a session is aborted with its parent', async () => {
  const agent = new Agent({ model: scriptedModel([hangs()]) });
  const session = await agent.session({ id: 's' });
  const blocking = rejectionOf(session.run('for ever'));
  await until(() => agent.status().runs === 1);
  let inner: Promise<unknown> | undefined;
  const outer = new Agent({
    model: scriptedModel([calls('ask')]),
    tools: [
      toolOf('ask', (_input, { run }) => {
        inner = rejectionOf(session.run('inner', { parent: run as RunContext }));
        return inner;
      }),
    ],
  });
  const stopper = new AbortController();
  const running = rejectionOf(outer.run('go', { signal: stopper.signal }));
  await until(() => inner !== undefined);

  stopper.abort('enough');

  expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(await within(inner as Promise<unknown>)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  await agent.close();
  await blocking;
});

test('a session whose agent is closed during the load does not open, and no hook is called', async () => {
  const { store, held, hold } = gatedStore();
  const log: string[] = [];
  const agent = new Agent({
    model: scriptedModel([]),
    store,
    lifecycle: [{ onSessionStart: () => void log.push('start'), onSessionEnd: () => void log.push('end') }],
  });
  hold('load');
  const opening = rejectionOf(agent.session({ id: 's' }));
  await until(() => held.arrived === 1);
  const closing = agent.close();
  await pause(10);
  held.open();
  await closing;

  expect(await opening).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
  expect(log).toEqual([]);
  expect(agent.status()).toMatchObject({ sessions: 0 });
});
