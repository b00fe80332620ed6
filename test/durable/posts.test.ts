import {
  Agent,
  type AgentLifecycle,
  type Clock,
  MemorySessionStore,
  type RunResult,
  type Session,
  type SessionStore,
} from 'keelson';
import { durable, type JournalEntry, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock, fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { aborted, pause, rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { transcript } from '../support/agent/transcript.js';
import { endingAt } from '../support/durable/ending-step.js';
import { approveAll } from '../support/durable/errand.js';
import { storeOver } from '../support/state/store-over.js';

/** The work of a run at which somebody posts. */
type OnWork = (what: string, signal?: AbortSignal) => unknown;

interface Order {
  readonly store: SessionStore;
  readonly onWork?: OnWork;
  readonly lifecycle?: readonly AgentLifecycle[];
  readonly clock?: Clock;
  readonly queueMs?: number;
}

const call = (name: string) => ({ name, id: name, input: {} });

/** One attempt of a run that sends a mail, and waits for the approval of a payment. */
async function attempt(step: Step, { store, onWork = () => {}, lifecycle = [], ...options }: Order) {
  const model = scriptedModel(async ({ messages, signal }) => {
    const said = messages.filter(({ role }) => role === 'assistant').length;
    await onWork(`model ${said + 1}`, signal);
    return [calls(call('mail')), calls(call('pay'))][said] ?? `Done with ${messages.length}.`;
  });
  const tool = (name: string) => toolOf(name, async (_input, { signal }) => (await onWork(name, signal)) ?? name);
  const { clock, queueMs } = options;
  const agent = new Agent(
    durable({ step }).options({
      model,
      store,
      tools: [tool('mail'), tool('pay')],
      lifecycle: [approval({ tools: ['pay'] }), ...lifecycle],
      logger: keepingLogger(),
      ...(queueMs && { timeouts: { queueMs } }),
      ...(clock && { clock }),
    }),
  );
  const session = await agent.session({ id: 's' });
  let result: RunResult = await session.run('Order.');
  while (result.status === 'suspended') {
    await onWork('wait');
    result = await session.run('', { resume: await approveAll(result) });
  }
  return { text: result.text, said: transcript(session.messages) };
}

/** The session as a process without an engine has it. */
function elsewhere(store: MemorySessionStore, clock?: Clock): Promise<Session> {
  const agent = new Agent({ model: scriptedModel(['Taken over.']), store, ...(clock && { clock }) });
  return agent.session({ id: 's' });
}

const copyOf = (journal: MemoryStep['journal']): readonly JournalEntry[] => JSON.parse(JSON.stringify(journal));
const again = (step: MemoryStep) => memoryStep({ journal: copyOf(step.journal) });
const namesOf = (step: MemoryStep) => step.journal.map((entry) => entry?.name);

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

describe('the claim of a durable run', () => {
  const HOUR = 3_600_000;

  /** Begins a run whose process ends during the mail, and lets an hour pass. */
  async function abandoned() {
    const later = fastClock(Date.now() + HOUR);
    let now = Date.now;
    const store = new MemorySessionStore({ clock: { ...later, now: () => now() } });
    const first = endingAt(6, 'after');
    await attempt(first, { store }).catch(() => {});
    now = later.now;
    return { store, first, later };
  }

  test('outlives any time between two attempts', async () => {
    const { store, first, later } = await abandoned();
    const there = await elsewhere(store, later);

    expect(await rejectionOf(there.run('Hi.', { timeouts: { queueMs: 1 } }))).toMatchObject({
      code: 'ERR_SESSION_BUSY',
    });
    expect((await attempt(again(first), { store })).text).toBe('Done with 5.');
    expect((await there.run('Hi.')).text).toBe('Taken over.');
  });

  test('is not renewed before a call, so that parallel calls begin in their order', async () => {
    const store = new MemorySessionStore();
    const clock = fakeClock(Date.now());
    let lateRenewals = 0;
    let isAnswered = false;
    const renew: SessionStore['renew'] = (id, claim) => {
      if (isAnswered) lateRenewals += 1;
      return store.renew(id, claim);
    };
    const answer = async () => {
      // The claim is renewed once, and then runs out by the time of the run.
      clock.advance(400);
      await pause();
      clock.advance(10_000);
      await pause();
      isAnswered = true;
      return calls(call('a'), call('b'));
    };
    const options = { model: scriptedModel([answer, 'Done.']), timeouts: { claimMs: 900 }, clock };
    const tools = ['a', 'b'].map((name) => toolOf(name, () => name));
    const step = memoryStep();
    const agent = new Agent(durable({ step }).options({ ...options, tools, store: storeOver(store, { renew }) }));

    await (await agent.session({ id: 's' })).run('Go.');

    expect(lateRenewals).toBe(0);
    expect(namesOf(step).filter((name) => name?.startsWith('tool '))).toEqual(['tool a a', 'tool b b']);
  });

  test('is taken by hand, and the run then ends as one that has lost its session', async () => {
    const { store, first, later } = await abandoned();
    const there = await elsewhere(store, later);

    expect(await there.break({ reason: 'The workflow is gone.', by: 'ops' })).toBe(true);

    expect((await there.run('Hi.')).text).toBe('Taken over.');
    expect(there.entries.find(({ body }) => body.type === 'post')).toMatchObject({
      by: 'ops',
      body: { post: { type: 'stop', reason: 'The workflow is gone.' } },
    });
    expect(await rejectionOf(attempt(again(first), { store }))).toMatchObject({ code: 'ERR_SESSION_LOST' });
    expect(await there.break()).toBe(false);
  });

  test('of a run without an engine cannot be broken', async () => {
    const store = new MemorySessionStore();
    await store.claim('s', { token: 'other', run: 'run_1', ttlMs: HOUR });
    expect(await (await elsewhere(store)).break()).toBe(false);
    expect(await store.claim('s', { token: 'third', run: 'run_2', ttlMs: 1 })).toMatchObject({ claimed: false });
  });

  test('ends when the engine cancels the execution', async () => {
    const store = new MemorySessionStore();
    const inner = memoryStep();
    const cancelled = new TypeError('cancelled');
    const step = (...[name, run, options]: Parameters<Step>): ReturnType<Step> =>
      name === 'model 2' ? Promise.reject(cancelled) : inner(name, run, options);
    const own = Object.assign(step, { id: inner.id, isCancelled: (error: unknown) => error === cancelled });

    expect(await rejectionOf(attempt(own, { store }))).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: cancelled });

    expect((await (await elsewhere(store)).run('Hi.')).text).toBe('Taken over.');
  });

  test('is given up after `queueMs` if another run holds the session, in each attempt', async () => {
    const store = new MemorySessionStore();
    await store.claim('s', { token: 'other', run: 'run_1', ttlMs: HOUR });
    const step = memoryStep();
    const order = { store, clock: fastClock(Date.now()), queueMs: 2_000 };

    expect(await rejectionOf(attempt(step, order))).toMatchObject({ code: 'ERR_SESSION_BUSY' });
    const replayed = again(step);
    expect(await rejectionOf(attempt(replayed, order))).toMatchObject({ code: 'ERR_SESSION_BUSY' });
    expect(namesOf(replayed)).toEqual(namesOf(step));
  });

  test('in an engine that would end with the error, a store that fails for a time is asked again', async () => {
    const store = new MemorySessionStore();
    const failures = new Set(['load', 'claim', 'append']);
    const once = <Method extends 'load' | 'claim' | 'append'>(method: Method): SessionStore[Method] =>
      ((id: string, ...rest: [never]) => {
        if (failures.delete(method)) throw new TypeError('connection refused');
        return store[method](id, ...rest);
      }) as SessionStore[Method];
    const faulty = storeOver(store, { load: once('load'), claim: once('claim'), append: once('append') });
    const inner = memoryStep();
    const step = Object.assign((...given: Parameters<Step>) => inner(...given), inner, {
      refuse: () => pause() as never,
    });

    const { text } = await attempt(step, { store: faulty, clock: fastClock(Date.now()) });

    expect([text, failures.size]).toEqual(['Done with 5.', 0]);
  });
});
