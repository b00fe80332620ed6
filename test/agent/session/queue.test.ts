import {
  Agent,
  HookAction,
  MemorySessionStore,
  messagesOf,
  type RunContext,
  type Session,
  type SessionInfo,
} from 'keelson';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, delays, faultyTool, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until, within } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';

/** Returns another store object with the same sessions. Runs on it do not wait for runs on the first object. */
function storeOfOtherProcess(store: SessionStore): SessionStore {
  return storeOver(store, {});
}

const storedIn = async (store: SessionStore) => transcript(messagesOf((await store.load('s'))?.entries ?? []));

describe('two sessions with the same id in two processes', () => {
  /** Makes two agents with the session `s`. The model of the first agent waits at a gate. */
  async function arrange(timeouts = {}) {
    const store = new MemorySessionStore();
    const held = gate();
    const slow = new Agent({ model: scriptedModel([() => held.pass().then(() => 'mine'), 'later']), store });
    const quick = new Agent({ model: scriptedModel(['theirs']), store: storeOfOtherProcess(store), timeouts });
    return { store, held, slow: await slow.session({ id: 's' }), quick: await quick.session({ id: 's' }) };
  }

  test('run one after the other, and the second run continues from the first', async () => {
    const { store, held, slow, quick } = await arrange();

    const running = slow.run('I ask');
    await until(() => held.arrived === 1);
    const waiting = quick.run('they ask');
    held.open();
    await running;
    const { history } = await waiting;

    const all = ['user: I ask', 'assistant: mine', 'user: they ask', 'assistant: theirs'];
    expect(transcript(history)).toEqual(all);
    expect(await storedIn(store)).toEqual(all);
  });

  test('refuse a run that waits for longer than `queueMs`, with the run that has the session', async () => {
    const { store, held, slow, quick } = await arrange({ queueMs: 1 });
    const running = slow.run('I ask');
    await until(() => held.arrived === 1);

    const error = await rejectionOf(quick.run('they ask'));

    const holder = (await store.load('s'))?.holder;
    expect(error).toMatchObject({ code: 'ERR_SESSION_BUSY', session: 's', timeoutMs: 1, holder });
    expect(holder).toMatchObject({ run: expect.stringMatching(/^run_/) });
    held.open();
    await running;
    expect(await storedIn(store)).toEqual(['user: I ask', 'assistant: mine']);
  });

  test('tell a run that is refused which question the other run waits for', async () => {
    const store = new MemorySessionStore();
    const asked = gate();
    const lifecycle = [approval({ ask: () => asked.pass().then(() => 'approve' as const) })];
    const model = scriptedModel([calls('pay'), 'Paid.']);
    const asking = new Agent({ model, store, lifecycle, tools: [toolOf('pay', () => 'paid')] });
    const running = (await asking.session({ id: 's' })).run('Pay.');
    await until(() => asked.arrived === 1);
    const other = new Agent({ model, store: storeOfOtherProcess(store), timeouts: { queueMs: 1 } });

    const error = await rejectionOf((await other.session({ id: 's' })).run('Hello?'));

    expect(error).toMatchObject({ code: 'ERR_SESSION_BUSY', holder: { waitsFor: '"pay" needs approval.' } });
    asked.open();
    expect((await running).text).toBe('Paid.');
    expect((await store.load('s'))?.holder).toBeUndefined();
  });

  test('can be aborted while a run waits for the run of the other process', async () => {
    const { held, slow, quick } = await arrange();
    const running = slow.run('I ask');
    await until(() => held.arrived === 1);
    const stopper = new AbortController();
    const waiting = rejectionOf(quick.run('they ask', { signal: stopper.signal }));
    await pause(3);

    stopper.abort('enough');

    expect(await waiting).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    held.open();
    expect(await running).toMatchObject({ text: 'mine' });
  });

  test('end a run whose claim another process has taken over: it adds nothing more', async () => {
    const clock = manualClock();
    const store = new MemorySessionStore({ clock });
    const held = gate();
    // The clock of the first process stands still, so that it renews nothing.
    const slow = new Agent({
      model: scriptedModel([() => held.pass().then(() => 'mine')]),
      store,
      clock: manualClock(),
    });
    const quick = new Agent({ model: scriptedModel(['theirs']), store: storeOfOtherProcess(store) });
    const running = rejectionOf((await slow.session({ id: 's' })).run('I ask'));
    await until(() => held.arrived === 1);
    await clock.advance(30_001);

    await (await quick.session({ id: 's' })).run('they ask');
    held.open();

    expect(await running).toMatchObject({ code: 'ERR_SESSION_LOST', session: 's' });
    expect(await storedIn(store)).toEqual(['user: I ask', 'user: they ask', 'assistant: theirs']);
  });

  test('end a run that cannot renew its claim before a tool, with the error of the store', async () => {
    const clock = manualClock();
    const renew = () => Promise.reject(new TypeError('down'));
    const begun: string[] = [];
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'pay' }, { name: 'pay' })]),
      store: storeOver(new MemorySessionStore({ clock }), { renew }),
      clock,
      parallelToolCalls: 1,
      tools: [
        toolOf('pay', async (_input, { callId }) => {
          begun.push(callId);
          await clock.advance(30_001);
        }),
      ],
    });

    const error = await rejectionOf((await agent.session({ id: 's' })).run('pay'));

    expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', cause: new TypeError('down') });
    expect(begun).toEqual(['call_1']);
  });

  test('go on if the store fails for a renewal only', async () => {
    const clock = manualClock();
    let renewals = 0;
    const renew = () => {
      renewals += 1;
      return Promise.reject(new TypeError('down'));
    };
    const agent = new Agent({
      model: scriptedModel([calls('pay'), 'Paid.']),
      store: storeOver(new MemorySessionStore({ clock }), { renew }),
      clock,
      tools: [toolOf('pay', () => clock.advance(20_000).then(() => 'paid'))],
      logger: keepingLogger(),
    });

    const { text } = await (await agent.session({ id: 's' })).run('pay');

    expect(text).toBe('Paid.');
    expect(renewals).toBeGreaterThan(0);
  });

  test('do not wait if they run one after the other', async () => {
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel(['one', 'two', 'three']), store });
    const a = await agent.session({ id: 's' });
    const b = await agent.session({ id: 's' });

    await a.run('a1');
    await b.run('b1');
    const { history } = await a.run('a2');

    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  });
});

test('a run whose host has cut it off keeps its place until its claim has run out', async () => {
  const clock = manualClock();
  const store = new MemorySessionStore({ clock });
  // The clock of the first agent stands still, so that it renews nothing.
  const cut = new Agent({ model: scriptedModel([hangs()]), store, clock: manualClock() });
  const next = new Agent({ model: scriptedModel(['two', 'three']), store, clock, timeouts: { queueMs: 100 } });
  const stop = new AbortController();
  const running = rejectionOf((await cut.session({ id: 's' })).run('one', { signal: stop.signal }));
  await until(() => store.load('s')?.holder !== undefined);
  const session = await next.session({ id: 's' });
  const early = rejectionOf(session.run('early'));
  await until(() => clock.waiting === 1);
  await clock.advance(100);

  expect(await early).toMatchObject({ code: 'ERR_SESSION_BUSY' });

  await clock.advance(30_000);
  const late = session.run('two');
  await until(() => clock.waiting === 1);
  await clock.advance(100);

  expect((await late).text).toBe('two');
  expect((await within(session.run('three'))) as unknown).toMatchObject({ text: 'three' });
  stop.abort();
  expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
});

describe('the runs of a session', () => {
  test('execute one after another in the order of their start, streams included', async () => {
    const log: string[] = [];
    const model = scriptedModel(({ messages }) => delays(messages.length === 1 ? 8 : 0, 'ok'));
    const agent = new Agent({
      model,
      lifecycle: [
        {
          beforeAgent: (input) => void log.push(`${input}>`),
          afterAgent: () => pause(1).then(() => void log.push('<')),
        },
      ],
    });
    const session = await agent.session();

    await Promise.all([session.run('a'), session.stream('b').result, session.run('c')]);

    expect(log).toEqual(['a>', '<', 'b>', '<', 'c>', '<']);
    expect(session.messages).toHaveLength(6);
  });

  test('continue after a run that fails or is refused', async () => {
    const session = await new Agent({
      model: scriptedModel([() => Promise.reject(new Error('down')), 'fine']),
    }).session();

    const outcomes = await Promise.allSettled([
      session.run('a'),
      session.run('b', { maxTurns: 0 }),
      session.run('c', { signal: AbortSignal.abort() }),
      session.run('d'),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
  });

  test('can be aborted while they are queued, at once and without a hook', async () => {
    const called: string[] = [];
    const controller = new AbortController();
    const model = scriptedModel([delays(15, 'first'), 'third']);
    const agent = new Agent({ model, lifecycle: [{ beforeAgent: (input) => void called.push(input) }] });
    const session = await agent.session();
    const first = session.run('a');
    const second = rejectionOf(session.run('b', { signal: controller.signal }));
    const third = session.run('c');
    let firstDone = false;
    void first.then(() => {
      firstDone = true;
    });

    await pause(2);
    controller.abort('enough');

    expect(await second).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(firstDone).toBe(false);
    expect((await third).text).toBe('third');
    expect(called).toEqual(['a', 'c']);
  });

  test.each(['claim', 'append'] as const)('can be aborted while the %s of their store hangs', async (method) => {
    const store = new MemorySessionStore();
    const session = await new Agent({ model: scriptedModel(['done']), store }).session();
    const controller = new AbortController();
    store[method] = (() => new Promise(() => {})) as never;

    const running = rejectionOf(session.run('go', { signal: controller.signal }));
    await pause(3);
    controller.abort('enough');

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
  });

  test('can be aborted while the store hangs during the save of an answer of a lifecycle', async () => {
    const store = new MemorySessionStore();
    const lifecycle = [{ beforeModel: () => HookAction.respond('from a part') }];
    const session = await new Agent({ model: scriptedModel([]), store, lifecycle }).session();
    const controller = new AbortController();
    store.append = (() => new Promise(() => {})) as never;

    const running = rejectionOf(session.run('go', { signal: controller.signal }));
    await pause(3);
    controller.abort('enough');

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
  });

  test('finish before close() resolves, and new runs are refused', async () => {
    const session = await new Agent({ model: scriptedModel([delays(5, 'first'), 'second']) }).session();
    const running = [session.run('a'), session.run('b')];

    const closing = session.close();
    expect(await rejectionOf(session.run('c'))).toMatchObject({ code: 'ERR_SESSION_CLOSED' });
    await closing;

    expect((await Promise.all(running)).map(({ text }) => text)).toEqual(['first', 'second']);
  });

  test.each(['session', 'agent'] as const)(
    'have their appends awaited by close() of the %s, also if aborted',
    async (whose) => {
      const store = new MemorySessionStore();
      const append = store.append.bind(store);
      store.append = ((...given: Parameters<typeof append>) => pause(20).then(() => append(...given))) as never;
      const ended: number[] = [];
      const lifecycle = [{ onSessionEnd: ({ messages }: SessionInfo) => void ended.push(messages.length) }];
      const agent = new Agent({
        model: scriptedModel([calls('hangs')]),
        tools: [faultyTool('hangs')],
        lifecycle,
        store,
      });
      const session = await agent.session({ id: 'a' });
      const controller = new AbortController();
      const running = rejectionOf(session.run('go', { signal: controller.signal }));
      await until(() => agent.status().runs === 1 && session.messages.length === 2);

      if (whose === 'session') controller.abort();
      await (whose === 'session' ? session : agent).close();

      expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
      expect([messagesOf(store.load('a')?.entries ?? []).length, ended]).toEqual([3, [3]]);
    },
  );

  test('of two sessions do not wait for each other', async () => {
    const agent = new Agent({ model: scriptedModel([hangs(), 'quick']) });
    const controller = new AbortController();
    const slow = (await agent.session()).run('a', { signal: controller.signal }).catch(() => {});

    expect(await within((await agent.session()).run('b'))).toMatchObject({ text: 'quick' });
    controller.abort();
    await slow;
  });
});

describe('a run inside a run of the same session', () => {
  const ways: Readonly<Record<string, (session: Session, parent: RunContext) => Promise<unknown>>> = {
    'by run': (session, parent) => session.run('inner', { parent }),
    'by stream': (session, parent) => session.stream('inner', { parent }).result,
  };

  test.each(Object.entries(ways))(
    'with its parent is refused instead of causing a deadlock, %s',
    async (_title, enter) => {
      let session: Session | undefined;
      const agent = new Agent({
        model: scriptedModel([calls('enter'), 'done']),
        tools: [toolOf('enter', (_input, { run }) => enter(session as Session, run as RunContext))],
      });
      session = await agent.session({ id: 's' });

      const { messages } = (await within(session.run('go'))) as Awaited<ReturnType<Session['run']>>;

      expect(messages[2]).toMatchObject({
        content: [{ isError: true, content: expect.stringContaining('Session "s" was entered again') }],
      });
    },
  );

  test('is also refused through a sub-agent and through an intermediate run', async () => {
    let session: Session | undefined;
    const sub = new Agent({
      name: 'sub',
      model: scriptedModel([calls('enter'), 'sub done']),
      tools: [
        toolOf('enter', async (_input, { run }) => {
          const error = await rejectionOf((session as Session).run('inner', { parent: run as RunContext }));
          return (error as { code: string }).code;
        }),
      ],
    });
    const seen: unknown[] = [];
    sub.use({ beforeModel: (messages) => void seen.push(transcript(messages).at(-1)) });
    const agent = new Agent({
      model: scriptedModel([calls('sub', { prompt: 'x' }), 'done']),
      tools: [sub.asTool({ description: '' }), echo],
    });
    session = await agent.session({ id: 's' });

    expect(await within(session.run('go'))).toMatchObject({ text: 'done' });
    expect(seen).toEqual(['user: x', 'tool: call_1=ERR_SESSION_REENTRY']);
  });

  test('is allowed in a session with the same id in another store', async () => {
    const helper = new Agent({ model: scriptedModel(['helped']) });
    const agent = new Agent({
      model: scriptedModel([calls('ask'), 'done']),
      tools: [
        toolOf('ask', async (_input, { run }) => {
          const session = await helper.session({ id: 'ada' });
          return (await session.run('help', { parent: run as RunContext })).text;
        }),
      ],
    });
    const session = await agent.session({ id: 'ada' });

    expect(transcript((await session.run('go')).messages)).toContain('tool: call_1=helped');
  });

  test('is allowed in another session', async () => {
    const agent: Agent = new Agent({ model: scriptedModel([calls('ask'), 'inner', 'done']), tools: [] });
    agent.use({
      tools: [
        toolOf('ask', async (_input, { run }) => {
          const other = await agent.session({ id: 'other' });
          return (await other.run('inner', { parent: run as RunContext })).text;
        }),
      ],
    });

    const { messages } = await (await agent.session({ id: 's' })).run('go');

    expect(transcript(messages)[2]).toBe('tool: call_1=inner');
  });
});
