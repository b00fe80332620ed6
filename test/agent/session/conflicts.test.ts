import {
  Agent,
  HookAction,
  MemorySessionStore,
  type RunContext,
  type Session,
  type SessionChange,
  SessionConflictError,
  type SessionInfo,
  type SessionStore,
  type ToolCallPart,
  type ToolResultPart,
} from 'keelson';
import { calls, delays, faultyTool, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until, within } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

const open = (id: string): ToolCallPart => ({ type: 'tool-call', id, name: 'work', input: {} });
const result = (id: string): ToolResultPart => ({ type: 'tool-result', id, name: 'work', content: 'x' });

/** Returns another store object with the same sessions. Runs on it do not wait for runs on the first object. */
function storeOfOtherProcess(store: SessionStore): SessionStore {
  return storeOver(store, {});
}

describe('two sessions with the same id in two processes', () => {
  /** Makes two agents with the session `s`. The model of the first agent waits at a gate. */
  async function arrange() {
    const store = new MemorySessionStore();
    const held = gate();
    const slow = new Agent({ model: scriptedModel([() => held.pass().then(() => 'mine'), 'later']), store });
    const quick = new Agent({ model: scriptedModel(['theirs']), store: storeOfOtherProcess(store) });
    return { store, held, slow: await slow.session({ id: 's' }), quick: await quick.session({ id: 's' }) };
  }

  test.each<{ what: string; change: SessionChange; code: string }>([
    {
      what: 'a result without its call',
      change: { keep: 2, append: [{ role: 'tool', content: [result('lost')] }] },
      code: 'ERR_MESSAGE_INVALID',
    },
    {
      what: 'a call without its result',
      change: { keep: 2, append: [{ role: 'assistant', content: [open('late')] }] },
      code: 'ERR_RESUME_INVALID',
    },
    {
      what: 'other messages in place of known ones',
      change: { keep: 1, append: [{ role: 'user', content: 7 as never }] },
      code: 'ERR_MESSAGE_INVALID',
    },
  ])('check what the other process has stored: $what', async ({ change, code }) => {
    const store = new MemorySessionStore();
    const session = await new Agent({ model: scriptedModel(['one', 'two', 'three']), store }).session({ id: 's' });
    await session.run('I ask');
    await store.save('s', change, (await store.load('s'))?.revision ?? 0);

    expect(await rejectionOf(session.run('again'))).toMatchObject({ code });
  });

  test('conflict if both save, and the error of the second has both message arrays', async () => {
    const { store, held, slow, quick } = await arrange();

    const running = rejectionOf(slow.run('I ask'));
    await until(() => held.arrived === 1);
    await quick.run('they ask');
    held.open();
    const error = (await running) as SessionConflictError;

    expect(error).toBeInstanceOf(SessionConflictError);
    expect(error).toMatchObject({ code: 'ERR_SESSION_CONFLICT', session: 's' });
    expect(transcript(error.mine)).toEqual(['user: I ask', 'assistant: mine']);
    expect(transcript(error.stored)).toEqual(['user: they ask', 'assistant: theirs']);
    expect(transcript(error.messages)).toEqual(['user: I ask', 'assistant: mine']);
    expect(transcript((await store.load('s'))?.messages ?? [])).toEqual(['user: they ask', 'assistant: theirs']);
  });

  test('continue after a conflict from the stored messages, and the arrays of the error do not change', async () => {
    const { held, slow, quick } = await arrange();
    const running = rejectionOf(slow.run('I ask'));
    await until(() => held.arrived === 1);
    await quick.run('they ask');
    held.open();
    const error = (await running) as SessionConflictError;

    const { history } = await slow.run('again');

    expect(transcript(history)).toEqual(['user: they ask', 'assistant: theirs', 'user: again', 'assistant: later']);
    expect(transcript(error.stored)).toEqual(['user: they ask', 'assistant: theirs']);
  });

  test('do not conflict if they save one after the other', async () => {
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel(['one', 'two', 'three']), store });
    const a = await agent.session({ id: 's' });
    const b = await agent.session({ id: 's' });

    await a.run('a1');
    await b.run('b1');
    const { history } = await a.run('a2');

    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  });

  test('also conflict if both arrays have the same length', async () => {
    const store = new MemorySessionStore();
    const compacting = new Agent({
      model: scriptedModel(['short']),
      store: storeOfOtherProcess(store),
      lifecycle: [{ beforeModel: () => [{ role: 'user', content: 'summary' }] }],
    });
    const held = gate();
    const slow = new Agent({ model: scriptedModel(['first', () => held.pass().then(() => 'late')]), store });
    const session = await slow.session({ id: 's' });
    await session.run('one');

    const running = rejectionOf(session.run('two'));
    await until(() => held.arrived === 1);
    await (await compacting.session({ id: 's' })).run('x');
    expect((await store.load('s'))?.messages).toHaveLength(2);
    held.open();

    expect(await running).toMatchObject({ code: 'ERR_SESSION_CONFLICT' });
  });
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

  test.each(['load', 'save'] as const)('can be aborted while the %s of their store hangs', async (method) => {
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
    store.save = (() => new Promise(() => {})) as never;

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
    'have their save awaited by close() of the %s, also if aborted',
    async (whose) => {
      const store = new MemorySessionStore();
      const save = store.save.bind(store);
      store.save = ((...given: Parameters<typeof save>) => pause(20).then(() => save(...given))) as never;
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
      await pause(3);

      if (whose === 'session') controller.abort();
      await (whose === 'session' ? session : agent).close();

      expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
      expect([store.load('a')?.messages.length, ended]).toEqual([3, [3]]);
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
