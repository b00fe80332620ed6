import { Agent, type AgentLifecycle, MemorySessionStore, type Model, type Tool } from 'keelson';
import { durable, memoryStep, type Step } from 'keelson/durable';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { aborted, gate, pause, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { endingAt } from '../support/durable/ending-step.js';
import { again, attempt, elsewhere, namesOf, type OnWork } from '../support/durable/order.js';
import { storeOver } from '../support/state/store-over.js';

describe('messages to a durable run', () => {
  /** Sends a message during each work, once. */
  const sendAt =
    (store: MemorySessionStore): OnWork =>
    async (what) => {
      const there = await elsewhere(store);
      await there.send(`During ${what}.`, { id: what });
    };

  const SAID = [
    ...['user: Order.', 'assistant: call mail mail', 'tool: mail=mail'],
    ...['user: During model 1.', 'user: During mail.', 'assistant: call pay pay', 'tool: pay=pay'],
    ...['user: During model 2.', 'user: During wait.', 'user: During pay.', 'assistant: Done with 10.'],
    ...['user: During model 3.', 'assistant: Done with 12.', 'user: During model 4.', 'assistant: Done with 14.'],
  ];
  /** Sends no message during the last model call. */
  const until5 =
    (onWork: OnWork): OnWork =>
    (what) =>
      what === 'model 5' ? undefined : onWork(what);

  test('join after the turn, after a wait and behind the answer, each once, wherever an attempt ends', async () => {
    const whole = memoryStep();
    const store = new MemorySessionStore();
    expect((await attempt(whole, { store, onWork: until5(sendAt(store)) })).said).toEqual(SAID);

    const crash = async (at: number, phase: 'before' | 'after') => {
      const order = { store: new MemorySessionStore() };
      const first = endingAt(at, phase);
      const onWork = until5(sendAt(order.store));
      await attempt(first, { ...order, onWork }).catch(() => {});
      await pause();

      const { said } = await attempt(again(first), { ...order, onWork });

      expect(said, `${phase} step ${at}`).toEqual(SAID);
    };
    await Promise.all(whole.journal.flatMap((_, index) => [crash(index + 1, 'before'), crash(index + 1, 'after')]));
  });

  test('are read from the stored steps by a replay, which asks no model', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const first = await attempt(step, { store, onWork: until5(sendAt(store)) });

    const replayed = await attempt(again(step), { store, onWork: (what) => expect(what).toBe('wait') });

    expect(replayed).toEqual(first);
  });

  test('with `when: now` abandon no model call, and join after the turn', async () => {
    const store = new MemorySessionStore();
    const there = await elsewhere(store);
    // The run learns of the message by the append that comes right before a model call.
    const append: SessionStore['append'] = async (id, given) => {
      if (JSON.stringify(given.entries).includes('First.')) await there.send('Hurry.', { when: 'now', id: 'second' });
      return store.append(id, given);
    };
    const works: string[] = [];
    const onWork: OnWork = async (what) => {
      works.push(what);
      if (what === 'mail') await there.send('First.');
    };

    const { said } = await attempt(memoryStep(), { store: storeOver(store, { append }), onWork });

    expect(works).toEqual(['model 1', 'mail', 'model 2', 'wait', 'pay', 'model 3']);
    expect(said.slice(2, 7)).toEqual([
      ...['tool: mail=mail', 'user: First.', 'assistant: call pay pay', 'tool: pay=pay', 'user: Hurry.'],
    ]);
  });

  test('can be taken back', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const onWork: OnWork = async (what) => {
      if (what !== 'mail') return;
      const sent = await (await elsewhere(store)).send('Wait.', { id: 'm' });
      void sent.cancel();
      await pause();
    };

    const { said } = await attempt(step, { store, onWork });

    expect(said).not.toContain('user: Wait.');
    expect((await attempt(again(step), { store })).said).toEqual(said);
  });
});

describe('a stop of a durable run', () => {
  test.each(['model 1', 'mail', 'pay', 'model 3'])('ends it in a step: %s', async (at) => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const stops: Promise<boolean>[] = [];
    const onWork: OnWork = async (what, signal) => {
      if (what !== at) return undefined;
      const there = await elsewhere(store);
      stops.push(there.stop({ reason: 'Ada pressed the button.' }));
      return aborted(signal as AbortSignal);
    };

    const error = await rejectionOf(attempt(step, { store, onWork }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'Ada pressed the button.' });
    expect(await Promise.all(stops)).toEqual([true]);
    const replayed = again(step);
    expect(await rejectionOf(attempt(replayed, { store, onWork: (what) => expect(what).toBe('wait') }))).toMatchObject({
      code: 'ERR_RUN_ABORTED',
    });
    expect(namesOf(replayed)).toEqual(namesOf(step));
  });

  test('reaches it if the store cannot announce posts', async () => {
    const store = new MemorySessionStore();
    const onWork: OnWork = async (what, signal) => {
      if (what !== 'mail') return undefined;
      void (await elsewhere(store)).stop();
      return aborted(signal as AbortSignal);
    };
    const order = { store: storeOver(store, {}), onWork, clock: fastClock(Date.now()) };

    expect(await rejectionOf(attempt(memoryStep(), order))).toMatchObject({ cause: 'the answer was stopped' });
  });

  test('is looked for among the entries that the run does not know', async () => {
    const store = new MemorySessionStore();
    const looks: (readonly string[])[] = [];
    const append: SessionStore['append'] = async (id, given) => {
      const answer = await store.append(id, given);
      // The append behind each claim finds no entries.
      const isLook = given.entries.length === 0 && !given.release && answer.entries.length > 0;
      if (isLook) looks.push(answer.entries.map((entry) => entry.id));
      return answer;
    };
    const onWork: OnWork = async (what) => {
      if (!['mail', 'pay'].includes(what)) return;
      await (await elsewhere(store)).send('More.', { id: what });
      await pause();
    };

    const { watch } = store;
    await attempt(memoryStep(), { store: storeOver(store, { append, watch: watch.bind(store) }), onWork });

    expect(looks).toEqual([['mail:post'], ['pay:post']]);
  });

  test('of one call does not end the run', async () => {
    const store = new MemorySessionStore();
    const stops: Promise<boolean>[] = [];
    const onWork: OnWork = async (what, signal) => {
      if (what !== 'mail') return;
      stops.push((await elsewhere(store)).stop({ path: ['mail'] }));
      await pause(10);
      expect(signal?.aborted).toBe(false);
    };

    expect((await attempt(memoryStep(), { store, onWork })).text).toBe('Done with 5.');
    expect(await Promise.all(stops)).toEqual([false]);
  });

  test('ends a run that a tool starts in its own code', async () => {
    const store = new MemorySessionStore();
    const engine = durable({ step: memoryStep() });
    const open = (model: Model, tools: readonly Tool[] = []) =>
      new Agent(engine.options({ model, tools, store, logger: keepingLogger() }));
    const asked = scriptedModel(async ({ signal }) => {
      const there = await new Agent({ model: scriptedModel([]), store }).session({ id: 'inside' });
      void there.stop({ reason: 'Enough.' });
      return aborted(signal as AbortSignal);
    });
    const inside = open(asked);
    const ask = toolOf('ask', async () => (await (await inside.session({ id: 'inside' })).run('Well?')).text);

    const result = await open(scriptedModel([calls('ask'), 'Stopped.']), [ask]).run('Ask.');

    expect(result.text).toBe('Stopped.');
    expect(JSON.stringify(result.history)).toContain('Enough.');
  });

  test('is not stored with a step that the engine begins after it has ended the attempt', async () => {
    const store = new MemorySessionStore();
    const inner = memoryStep();
    const beginning = gate();
    const engine = new AbortController();
    const step = (...given: Parameters<Step>): ReturnType<Step> => {
      if (given[0] !== 'model 2') return inner(...given);
      return Promise.race([beginning.pass().then(() => inner(...given)), aborted(engine.signal)]);
    };
    const stopper: AgentLifecycle = {
      name: 'stopper',
      async beforeModel(_messages, { turn }) {
        if (turn !== 2) return;
        void (await elsewhere(store)).stop();
        await pause(10);
      },
    };
    const outcome = rejectionOf(attempt(Object.assign(step, inner), { store, lifecycle: [stopper] }));
    await until(() => beginning.arrived === 1);

    engine.abort(new TypeError('lost'));
    await outcome;
    beginning.open();
    await pause();

    expect(namesOf(inner)).not.toContain('model 2');
    expect(await rejectionOf(attempt(again(inner), { store }))).toMatchObject({ cause: 'the answer was stopped' });
  });

  test('between two steps is stored with the next one, whose work does not run', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const works: string[] = [];
    const stopper: AgentLifecycle = {
      name: 'stopper',
      async beforeModel(_messages, { turn }) {
        if (turn !== 2) return;
        void (await elsewhere(store)).stop();
        await pause(10);
      },
    };

    const onWork: OnWork = (what) => void works.push(what);
    const error = await rejectionOf(attempt(step, { store, onWork, lifecycle: [stopper] }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'the answer was stopped' });
    expect(works).toEqual(['model 1', 'mail']);
    const stored = step.journal.find((entry) => entry?.name === 'model 2')?.value;
    expect(stored).toMatchObject({ aborted: { cause: { message: 'the answer was stopped' } } });
    expect(await rejectionOf(attempt(again(step), { store }))).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });

  test('that waits for an approval denies the call, and no decision lets it run', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const works: string[] = [];
    const onWork: OnWork = async (what) => {
      works.push(what);
      if (what === 'wait') expect(await (await elsewhere(store)).stop({ reason: 'Too late.' })).toBe(true);
    };

    const error = await rejectionOf(attempt(step, { store, onWork }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: expect.stringContaining('was stopped or decided') });
    expect(works).toEqual(['model 1', 'mail', 'model 2', 'wait']);
    expect(await rejectionOf(attempt(again(step), { store }))).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect((await elsewhere(store)).messages.at(-1)).toMatchObject({ role: 'tool' });
  });

  test('reaches a run whose process is gone, in the next attempt', async () => {
    const store = new MemorySessionStore();
    const first = endingAt(6, 'after');
    await attempt(first, { store }).catch(() => {});
    const there = await elsewhere(store);
    const stopping = there.stop();
    await pause();

    const error = await rejectionOf(attempt(again(first), { store }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'the answer was stopped' });
    expect(await stopping).toBe(true);
  });
});
