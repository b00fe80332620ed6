import { Agent, MemorySessionStore } from 'keelson';
import { durable, memoryStep, type Step } from 'keelson/durable';
import { StoreCorruptError } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { fakeClock, fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { aborted, gate, pause, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { cancellableStep, endingAt } from '../support/durable/ending-step.js';
import { again, attempt, elsewhere, namesOf, type OnWork } from '../support/durable/order.js';
import { storeOver } from '../support/state/store-over.js';

describe('the claim of a durable run', () => {
  const HOUR = 3_600_000;

  const call = (name: string) => ({ name, id: name, input: {} });
  const claimBy = (store: SessionStore) => store.claim('s', { token: 'other', run: 'other', ttlMs: 1_000 });

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

  test('is not renewed, so that parallel calls begin in their order', async () => {
    const store = new MemorySessionStore();
    const clock = fakeClock(Date.now());
    let renewals = 0;
    const renew: SessionStore['renew'] = (id, claim) => {
      renewals += 1;
      return store.renew(id, claim);
    };
    const answer = async () => {
      clock.advance(HOUR);
      await pause();
      return calls(call('a'), call('b'));
    };
    const options = { model: scriptedModel([answer, 'Done.']), timeouts: { claimMs: 900 }, clock };
    const tools = ['a', 'b'].map((name) => toolOf(name, () => name));
    const step = memoryStep();
    const agent = new Agent(durable({ step }).options({ ...options, tools, store: storeOver(store, { renew }) }));

    await (await agent.session({ id: 's' })).run('Go.');

    expect(renewals).toBe(0);
    expect(namesOf(step).filter((name) => name?.startsWith('tool '))).toEqual(['tool a a', 'tool b b']);
  });

  test('says for which question the run waits, and outlives `claimMs` then as well', async () => {
    const clock = fakeClock(Date.now());
    const store = new MemorySessionStore({ clock });
    const answers: unknown[] = [];
    const ask = async () => {
      await pause();
      clock.advance(HOUR);
      answers.push(await claimBy(store));
      return 'approve' as const;
    };
    const model = scriptedModel([calls('pay'), 'Done.']);
    const lifecycle = [approval({ tools: ['pay'], ask })];
    const options = {
      model,
      tools: [toolOf('pay', () => 'paid')],
      lifecycle,
      store,
      clock,
      timeouts: { claimMs: 900 },
    };
    const agent = new Agent(durable({ step: memoryStep() }).options(options));

    const { text } = await (await agent.session({ id: 's' })).run('Pay.');

    expect(text).toBe('Done.');
    expect(answers).toMatchObject([{ claimed: false, holder: { waitsFor: expect.stringContaining('pay') } }]);
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

  test('is taken by hand, and another execution denies the call that the crash interrupted', async () => {
    const { store, later } = await abandoned();
    await (await elsewhere(store, later)).break();
    const model = scriptedModel(['Not sent.']);
    const agent = new Agent(durable({ step: memoryStep({ id: 'next' }) }).options({ model, store }));

    const result = await (await agent.session({ id: 's' })).run('', { resume: { mail: 'deny' } });

    expect(result.text).toBe('Not sent.');
  });

  test('of a run without an engine cannot be broken', async () => {
    const store = new MemorySessionStore();
    await store.claim('s', { token: 'other', run: 'run_1', ttlMs: HOUR });
    expect(await (await elsewhere(store)).break()).toBe(false);
    expect(await store.claim('s', { token: 'third', run: 'run_2', ttlMs: 1 })).toMatchObject({ claimed: false });
  });

  test('ends when the engine cancels the execution', async () => {
    const store = new MemorySessionStore();
    const { step, cancel } = cancellableStep();
    const onWork: OnWork = async (what, signal) => {
      if (what !== 'model 2') return;
      cancel();
      await aborted(signal as AbortSignal);
    };

    const error = await rejectionOf(attempt(step, { store, onWork }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: { message: 'cancelled' } });
    expect(await claimBy(store)).toMatchObject({ claimed: true });
  });

  test('is released if the store grants it after the engine has cancelled the execution', async () => {
    const store = new MemorySessionStore();
    const granting = gate();
    const claim: SessionStore['claim'] = (id, given) => granting.pass().then(() => store.claim(id, given));
    const { step, cancel } = cancellableStep();
    const outcome = rejectionOf(attempt(step, { store: storeOver(store, { claim }) }));
    await until(() => granting.arrived === 1);

    cancel();
    await pause();
    granting.open();

    expect(await outcome).toMatchObject({ code: 'ERR_SESSION_STORE' });
    expect(await claimBy(store)).toMatchObject({ claimed: true });
  });

  test('of an attempt that was lost is released if the engine cancels the next one', async () => {
    const store = new MemorySessionStore();
    const first = endingAt(2, 'after');
    await rejectionOf(attempt(first, { store }));
    expect(await claimBy(store)).toMatchObject({ claimed: false });
    await (await elsewhere(store)).send('Hello?');
    const { step, cancel } = cancellableStep(again(first));
    const cancelling = (...given: Parameters<Step>): ReturnType<Step> => {
      if (given[0] === 'session claim 2') cancel();
      return step(...given);
    };

    await rejectionOf(attempt(Object.assign(cancelling, step), { store }));

    expect(await claimBy(store)).toMatchObject({ claimed: true });
  });

  test.each([
    ['is not asked for again, and nothing is logged, once the execution is cancelled', 'before'],
    ['is not asked for again if the execution is cancelled before the next try', 'after'],
  ])('%s', async (_title, when) => {
    const store = new MemorySessionStore();
    const clock = fakeClock(Date.now());
    const logger = keepingLogger();
    const failing = gate();
    const claim = () => failing.pass().then(() => Promise.reject(new TypeError('connection refused')));
    const { step, cancel } = cancellableStep();
    const outcome = rejectionOf(attempt(step, { store: storeOver(store, { claim }), clock, logger }));
    await until(() => failing.arrived === 1);

    if (when === 'before') {
      cancel();
      await pause();
    }
    failing.open();
    await pause();
    if (when === 'after') cancel();
    await outcome;
    clock.advance(HOUR);
    await pause();

    expect(failing.arrived).toBe(1);
    expect(logger.lines.filter((line) => line.includes('tried again'))).toHaveLength(when === 'before' ? 0 : 1);
  });

  test('in an engine that would end with the error, is not asked for again if the store is broken', async () => {
    const store = new MemorySessionStore();
    const broken = new StoreCorruptError('log.jsonl', 'its end is missing');
    const claim = vi.fn<SessionStore['claim']>().mockRejectedValue(broken);
    const { step } = cancellableStep();

    const error = await rejectionOf(attempt(step, { store: storeOver(store, { claim }), clock: fastClock() }));

    expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', cause: broken });
    expect(claim).toHaveBeenCalledTimes(1);
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
    const { step } = cancellableStep();

    const { text } = await attempt(step, { store: faulty, clock: fastClock(Date.now()) });

    expect([text, failures.size]).toEqual(['Done with 5.', 0]);
  });
});
