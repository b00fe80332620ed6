import { describe, expect, test } from 'vitest';
import { durable, type MemoryStep, memoryStep, type Step } from '../../src/durable/durable.js';
import { Agent, MemorySessionStore, type SessionStore, type StoredSession } from '../../src/index.js';
import { approval } from '../../src/lifecycles/lifecycles.js';
import { calls, type ScriptEntry, says, scriptedModel } from '../../src/testing/testing.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const pay = toolOf('pay', () => 'paid');

function agentOf(step: Step, store: SessionStore, script: readonly ScriptEntry[]): Agent {
  const lifecycle = [approval({ tools: ['pay'] })];
  const options = { model: scriptedModel(script), tools: [pay], lifecycle, store, logger: keepingLogger() };
  return new Agent(durable({ step }).options(options));
}

/** A step that loses its execution when the step of a name has run, before it is stored. */
function losing(name: string, journal?: MemoryStep['journal']): MemoryStep {
  const inner = memoryStep({ ...(journal && { journal }) });
  const step = (...[called, run, options]: Parameters<Step>): ReturnType<Step> =>
    called === name
      ? inner(called, () => run().then(() => Promise.reject(new TypeError('lost'))), options)
      : inner(called, run, options);
  return Object.assign(step, { id: inner.id, journal: inner.journal });
}

const messagesOf = async (store: SessionStore) => ((await store.load('s')) as StoredSession).messages.length;

describe('sessions of durable runs', () => {
  test('a replay continues from the messages that the first attempt loaded', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const first = await (await agentOf(step, store, [says('one')]).session({ id: 's' })).run('Hi.');

    const replayed = agentOf(memoryStep({ journal: step.journal }), store, []);
    const again = await (await replayed.session({ id: 's' })).run('Hi.');

    expect(again.history).toEqual(first.history);
    expect(await messagesOf(store)).toBe(2);
    expect((await store.load('s'))?.revision).toBe(1);
  });

  test('a save whose step was not stored is not a conflict in the next attempt', async () => {
    const store = new MemorySessionStore();
    const lost = losing('session save 3');
    const failed = agentOf(lost, store, [says('one')]).session({ id: 's' });
    await rejectionOf(failed.then((session) => session.run('Hi.')));
    expect(await messagesOf(store)).toBe(2);

    const retried = agentOf(memoryStep({ journal: lost.journal }), store, []);
    const result = await (await retried.session({ id: 's' })).run('Hi.');

    expect(result.text).toBe('one');
    expect((await store.load('s'))?.revision).toBe(1);
  });

  test('a save of another process is a conflict, also in the next attempt', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const other: ScriptEntry = async () => {
      await store.save('s', { keep: 0, append: [{ role: 'user', content: 'Me first.' }] }, 0);
      return 'late';
    };
    const conflict = async (agent: Agent) => rejectionOf((await agent.session({ id: 's' })).run('Hi.'));

    expect(await conflict(agentOf(step, store, [other]))).toMatchObject({ code: 'ERR_SESSION_CONFLICT' });
    const replay = agentOf(memoryStep({ journal: step.journal }), store, []);
    expect(await conflict(replay)).toMatchObject({ code: 'ERR_SESSION_CONFLICT' });
  });

  test('an attempt that resumes calls keeps the claim of the attempt that died', async () => {
    const store = new MemorySessionStore();
    const asked = await (await agentOf(memoryStep(), store, [calls('pay')]).session({ id: 's' })).run('Pay.');
    const resume = Object.fromEntries(asked.pending.map(({ id }) => [id, 'approve' as const]));
    const lost = losing('tool pay call_1');
    const died = agentOf(lost, store, []).session({ id: 's' });
    await rejectionOf(died.then((session) => session.run('', { resume })));
    await pause();

    const next = agentOf(memoryStep({ journal: lost.journal }), store, [says('Done.')]);
    const result = await (await next.session({ id: 's' })).run('', { resume });

    expect(result.text).toBe('Done.');
    expect(JSON.stringify(result.history)).toContain('paid');
  });

  test('`sessions` wraps a store for one session', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const engine = durable({ step });
    const agent = new Agent(engine.options({ model: scriptedModel(['ok']) }));

    await (await agent.session({ id: 's', store: engine.sessions(store) })).run('Hi.');

    expect(step.journal.map((entry) => entry?.name)).toEqual([
      ...['session load 1', 'session load 2', 'start', 'model 1', 'session save 3'],
    ]);
    expect(await messagesOf(store)).toBe(2);
  });
});
