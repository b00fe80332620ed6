import {
  Agent,
  type AgentEvent,
  HookAction,
  MemorySessionStore,
  type Model,
  messagesOf,
  type SentMessage,
  type Session,
} from 'keelson';
import { approval, fallbackModels, retryModelCalls } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, hangs, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until, within } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

/** Returns another store object with the same sessions, as another process has it. It announces no posts. */
const elsewhere = (store: SessionStore) => storeOver(store, {});

/** An agent whose tool waits at a gate, and a session of another process. */
async function chat(script: Parameters<typeof scriptedModel>[0], options: { readonly maxTurns?: number } = {}) {
  const store = new MemorySessionStore();
  const held = gate();
  const model = scriptedModel(script);
  const agent = new Agent({
    model,
    store,
    tools: [toolOf('build', () => held.pass().then(() => 'built'))],
    ...options,
  });
  const other = new Agent({ model: scriptedModel([]), store: elsewhere(store) });
  const [session, there] = [await agent.session({ id: 's' }), await other.session({ id: 's' })];
  const read = () => model.requests.map(({ messages }) => transcript(messages));
  return { store, held, agent, model, session, there, read };
}

describe('a message that is sent to a running agent', () => {
  test.each(['here', 'there'] as const)('joins after the results of the turn, sent from %s', async (place) => {
    const { held, session, there, read } = await chat([calls('build'), 'Done.']);
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);

    const sent = await (place === 'here' ? session : there).send('Quickly, please.', { by: 'ada' });

    expect(await sent.state()).toEqual({ type: 'waiting' });
    held.open();
    const { text, messages } = await running;
    const all = ['user: Build it.', 'assistant: call call_1 build', 'tool: call_1=built', 'user: Quickly, please.'];
    expect(text).toBe('Done.');
    expect(read()[1]).toEqual(all);
    expect(transcript(messages)).toEqual([...all, 'assistant: Done.']);
    const { entry, ...joined } = (await sent.state()) as { readonly entry: string };
    expect(joined).toEqual({ type: 'joined', run: expect.stringMatching(/^run_/), modelCall: 2 });
    expect(session.entries.find(({ id }) => id === entry)).toMatchObject({ by: 'ada', body: { post: sent.id } });
  });

  test('joins once and in order, however often it is sent', async () => {
    const { held, session, there, read } = await chat([calls('build'), 'Done.']);
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);

    for (const [id, place] of [
      ['a', session],
      ['b', there],
      ['a', there],
      ['c', session],
      ['b', session],
    ] as const) {
      await place.send(id, { id });
    }
    held.open();
    await running;

    expect(read()[1]?.slice(3)).toEqual(['user: a', 'user: b', 'user: c']);
  });

  test('keeps a run from ending, and `after-answer` waits for the answer', async () => {
    const { held, session, read } = await chat([calls('build'), 'Built.', 'And tested.']);
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);

    const sent = await session.send('Then test it.', { when: 'after-answer' });
    held.open();

    expect((await running).text).toBe('And tested.');
    expect(read()[1]).not.toContain('user: Then test it.');
    expect(read()[2]?.slice(-2)).toEqual(['assistant: Built.', 'user: Then test it.']);
    expect(await sent.state()).toMatchObject({ type: 'joined', modelCall: 3 });
  });

  test.each([
    { end: 'joins', options: {}, text: 'And tested.', state: 'joined' },
    { end: 'waits if the turns are used up', options: { maxTurns: 1 }, text: 'Built.', state: 'waiting' },
    {
      end: 'waits behind the hooks',
      options: { lifecycle: [{ afterAgent: () => {} }] },
      text: 'Built.',
      state: 'waiting',
    },
  ])('that comes while the answer is stored $end', async ({ options, text, state }) => {
    const store = new MemorySessionStore();
    const there = await new Agent({ model: scriptedModel([]), store }).session({ id: 's' });
    let sent: SentMessage | undefined;
    const racing = storeOver(store, {
      async append(id, append) {
        if (append.release) sent ??= await there.send('Then test it.');
        return store.append(id, append);
      },
    });
    const agent = new Agent({ model: scriptedModel(['Built.', 'And tested.']), store: racing, ...options });
    const session = await agent.session({ id: 's' });

    expect((await session.run('Build it.')).text).toBe(text);
    expect(await sent?.state()).toMatchObject({ type: state });
    expect((await store.load('s'))?.holder).toBeUndefined();
  });

  test('waits for the next run if the turns of this one are used up', async () => {
    const { held, session } = await chat([calls('build'), 'Built.', 'Tested.'], { maxTurns: 2 });
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);
    const sent = await session.send('Then test it.', { when: 'after-answer' });
    held.open();

    expect((await running).text).toBe('Built.');
    expect(await sent.state()).toEqual({ type: 'waiting' });
    expect((await session.run('')).text).toBe('Tested.');
    expect(await sent.state()).toMatchObject({ type: 'joined', modelCall: 1 });
  });

  test('is an event of the run', async () => {
    const { held, agent, session } = await chat([calls('build'), 'Done.']);
    const seen: AgentEvent[] = [];
    agent.on('post', (event) => void seen.push(event));
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);
    await session.send('Quickly.', { id: 'm', by: 'ada' });
    held.open();
    await running;

    const message = { role: 'user', content: 'Quickly.' };
    expect(seen).toEqual([{ type: 'post', runId: expect.any(String), turn: 1, id: 'm', by: 'ada', message }]);
  });
});

describe('a message with `now`', () => {
  /** A model whose service fails when its first call is aborted. */
  const breakingOff = (): Model => {
    const rest = scriptedModel(['As you wish.']);
    let asked = 0;
    return {
      id: 'slow',
      generate(request) {
        asked += 1;
        if (asked > 1) return rest.generate(request);
        request.onPart?.({ type: 'text-delta', text: 'Let me th' });
        const failure = Object.assign(new Error('Service unavailable'), { status: 503 });
        return new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(failure)));
      },
    };
  };
  /** A model that shows some text and then hangs in its first call. */
  const slow = (): Model => scriptedModel([streams(['Let me th'], hangs()), 'As you wish.']);

  test('abandons the model call, and keeps the text that it has shown', async () => {
    const store = new MemorySessionStore();
    const model = slow();
    const agent = new Agent({ model, store, maxTurns: 1 });
    const session = await agent.session({ id: 's' });
    const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
    const running = session.run('Why?');
    await shown;

    const sent = await session.send('No: how?', { when: 'now' });

    const { text, turns, messages } = await running;
    expect({ text, turns }).toEqual({ text: 'As you wish.', turns: 1 });
    expect(transcript(messages)).toEqual([
      'user: Why?',
      'assistant: Let me th',
      'user: No: how?',
      'assistant: As you wish.',
    ]);
    expect(messages[1]).toMatchObject({ stopped: true });
    expect(await sent.state()).toMatchObject({ type: 'joined' });
  });

  test('is repeated by no retry and no fallback, and `beforeModel` runs again', async () => {
    const seen: string[] = [];
    const spare = scriptedModel(['From the spare model.']);
    const agent = new Agent({
      model: breakingOff(),
      lifecycle: [
        retryModelCalls({ initialDelayMs: 0 }),
        fallbackModels([spare]),
        {
          beforeModel: (messages) => void seen.push(`before ${messages.length}`),
          wrapModelCall: (request, next) =>
            next(request).catch((error) => {
              seen.push(error.code);
              throw error;
            }),
        },
      ],
    });
    agent.on('model-error', ({ action }) => void seen.push(action));
    const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
    const session = await agent.session({ id: 's' });
    const running = session.run('Why?');
    await shown;

    await session.send('No: how?', { when: 'now' });

    expect((await running).text).toBe('As you wish.');
    await pause(20);
    expect(seen).toEqual(['before 1', 'ERR_RUN_ENDED', 'before 3']);
    expect(spare.requests).toEqual([]);
  });

  test('that comes before the model is asked is part of the next model call', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([hangs(), 'As you wish.']);
    let session: Session | undefined;
    let isSent = false;
    const beforeModel = async () => {
      if (!isSent) await session?.send('No: how?', { when: 'now' });
      isSent = true;
    };
    const agent = new Agent({ model, store, lifecycle: [{ beforeModel }] });
    session = await agent.session({ id: 's' });

    const result = await within(session.run('Why?'));

    expect(result).toMatchObject({ text: 'As you wish.' });
    expect(transcript(model.requests.at(-1)?.messages ?? [])).toEqual(['user: Why?', 'user: No: how?']);
  });

  test('waits for the end of a tool call', async () => {
    const { held, session, read } = await chat([calls('build'), 'Done.']);
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);

    await session.send('Stop that.', { when: 'now' });
    held.open();
    await running;

    expect(read()[1]?.slice(2)).toEqual(['tool: call_1=built', 'user: Stop that.']);
  });

  test('abandons at most twenty model calls of a run', async () => {
    const store = new MemorySessionStore();
    const asked: number[] = [];
    const model: Model = {
      id: 'm',
      generate: ({ messages }) => {
        asked.push(messages.length);
        return new Promise(() => {});
      },
    };
    const agent = new Agent({ model, store });
    const session = await agent.session({ id: 's' });
    const stop = new AbortController();
    const running = rejectionOf(session.run('Go.', { signal: stop.signal }));
    for (let n = 1; n <= 20; n += 1) {
      await until(() => asked.length === n);
      await session.send(String(n), { when: 'now' });
    }
    await until(() => asked.length === 21);

    const last = await session.send('21', { when: 'now' });

    expect(await last.state()).toEqual({ type: 'waiting' });
    expect(asked).toHaveLength(21);
    stop.abort();
    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });
});

describe('a message to a session without a run', () => {
  test('waits for the next run, and is before its input', async () => {
    const { session, there, read } = await chat(['Hello.']);

    const sent = await there.send('Good morning.');

    expect(await sent.state()).toEqual({ type: 'waiting' });
    await session.run('Anybody there?');
    expect(read()[0]).toEqual(['user: Good morning.', 'user: Anybody there?']);
    expect(await sent.state()).toMatchObject({ type: 'joined', modelCall: 1 });
  });

  test('is answered by a run without an input, once', async () => {
    const { session, read } = await chat(['Hello.', 'Again.']);
    await session.send('Good morning.');

    await session.run('');

    expect(read()).toEqual([['user: Good morning.']]);
    expect(transcript(session.messages)).toEqual(['user: Good morning.', 'assistant: Hello.']);
  });

  test('is the input of a run with its id, once', async () => {
    const { session, read } = await chat(['Hello.', 'Again.']);
    await session.send('Good morning.', { id: 'm' });

    const first = await session.run('Good morning.', { id: 'm' });
    const second = await session.run('Good morning.', { id: 'm' });

    expect([first.text, second.text]).toEqual(['Hello.', 'Hello.']);
    expect(read()).toEqual([['user: Good morning.']]);
  });

  test('with the id of an earlier input is not sent again', async () => {
    const { session, there } = await chat(['Hello.', 'Again.']);
    await session.run('Good morning.', { id: 'm' });

    const sent = await there.send('Good morning.', { id: 'm' });

    expect(await sent.state()).toMatchObject({ type: 'joined', entry: 'm' });
    expect(transcript(session.messages)).toEqual(['user: Good morning.', 'assistant: Hello.']);
  });
});

test('a message with the id of an input that another process adds first is said once', async () => {
  const { store, session } = await chat(['Hello.', 'Again.']);
  const racing = storeOver(store, {
    async post(...given) {
      const answer = await store.post(...given);
      await session.run('Good morning.', { id: 'm' });
      return answer;
    },
  });
  const there = await new Agent({ model: scriptedModel([]), store: racing }).session({ id: 's' });

  const sent = await there.send('Good morning.', { id: 'm' });

  expect(await sent.state()).toMatchObject({ type: 'joined', entry: 'm' });
  expect((await there.run('', { id: 'm' })).text).toBe('Hello.');
  expect(transcript(there.messages)).toEqual(['user: Good morning.', 'assistant: Hello.']);
});

describe('a message that waits', () => {
  test('can be taken back and edited while an agent works, from another process', async () => {
    const { held, session, there, read } = await chat([calls('build'), 'Done.']);
    const running = session.run('Build it.');
    await until(() => held.arrived === 1);
    const [first, second] = [await there.send('one'), await there.send('two')];

    expect(await first.cancel()).toBe(true);
    expect(await second.edit('three')).toBe(true);
    held.open();
    await running;

    expect(read()[1]?.slice(3)).toEqual(['user: three']);
    expect([await first.state(), (await second.state()).type]).toEqual([{ type: 'withdrawn' }, 'joined']);
    expect([await second.cancel(), await second.edit('four')]).toEqual([false, false]);
  });

  test('can be taken back and edited without a run', async () => {
    const { session, read } = await chat(['Hello.']);
    const [first, second] = [await session.send('one'), await session.send('two')];

    expect([await first.cancel(), await second.edit('three')]).toEqual([true, true]);
    await session.run('');

    expect(read()).toEqual([['user: three']]);
  });

  test('is withdrawn at once without a run, and no later change of it counts', async () => {
    const { session, there, read } = await chat(['Hello.']);
    const [first, second] = [await session.send('one', { id: 'm' }), await session.send('two')];

    const changed = [await first.cancel(), await first.edit('three'), await first.cancel()];

    expect(changed).toEqual([true, false, false]);
    const again = await there.send('one', { id: 'm' });
    expect([await first.state(), await again.state()]).toEqual([{ type: 'withdrawn' }, { type: 'withdrawn' }]);
    expect(await second.state()).toEqual({ type: 'waiting' });
    await session.run('');
    expect(read()).toEqual([['user: two']]);
    expect(await first.state()).toEqual({ type: 'withdrawn' });
  });

  test('counts as waiting until the run that holds the conversation has read the withdrawal', async () => {
    const { store, session } = await chat([]);
    const sent = await session.send('one');
    store.claim('s', { token: 'other', run: 'run_2', ttlMs: 60_000 });

    const cancelling = sent.cancel();
    await until(() => store.load('s')?.length === 2);

    expect(await sent.state()).toEqual({ type: 'waiting' });
    store.append('s', { token: 'other', length: 2, entries: [], release: true });
    expect(await cancelling).toBe(true);
    expect(await sent.state()).toEqual({ type: 'withdrawn' });
  });

  test('waits while calls wait for a decision, and joins behind their results', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([calls('pay'), 'Paid.']);
    const tools = [toolOf('pay', () => 'paid')];
    const agent = new Agent({ model, store, tools, lifecycle: [approval()] });
    const session = await agent.session({ id: 's' });
    await session.run('Pay.');
    const sent = await session.send('In euros.');

    expect(await sent.state()).toEqual({ type: 'waiting' });
    await session.run('', { resume: { call_1: 'approve' } });

    expect(transcript(model.requests[1]?.messages ?? []).slice(2)).toEqual(['tool: call_1=paid', 'user: In euros.']);
  });
});

describe('session.stop', () => {
  test.each(['here', 'there'] as const)('ends the run with the reason, called %s', async (place) => {
    const { held, session, there } = await chat([calls('build'), 'Done.']);
    const running = rejectionOf(session.run('Build it.'));
    await until(() => held.arrived === 1);

    expect(await (place === 'here' ? session : there).stop({ reason: 'enough', by: 'ada' })).toBe(true);

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(session.entries.find(({ body }) => body.type === 'post')).toMatchObject({ by: 'ada' });
  });

  test('resolves with false if nothing runs', async () => {
    const { session } = await chat([]);

    expect(await session.stop()).toBe(false);
  });
});

test.each([
  [{ when: 'soon' }, 'when'],
  [{ id: '' }, 'id'],
])('refuses the options %j', async (options, name) => {
  const { session } = await chat([]);

  expect(await rejectionOf(session.send('Hi', options as never))).toMatchObject({
    code: 'ERR_OPTION_INVALID',
    option: name,
  });
});

test('refuses a message of another role', async () => {
  const { session } = await chat([]);

  expect(await rejectionOf(session.send({ role: 'assistant', content: [] } as never))).toMatchObject({
    code: 'ERR_MESSAGE_INVALID',
  });
});

describe('a question that is asked while the agent works', () => {
  /** A run that asks for approval of `build`. The person does not answer. */
  async function asked() {
    const held = gate();
    const signals: AbortSignal[] = [];
    const model = scriptedModel([calls({ name: 'build' }, { name: 'build' }), 'Done.']);
    const ask = (_call: unknown, _reason: string, signal: AbortSignal) => {
      signals.push(signal);
      return held.pass().then(() => 'approve');
    };
    const built: string[] = [];
    const tools = [toolOf('build', () => void built.push('built') as never)];
    const store = new MemorySessionStore();
    const agent = new Agent({ model, store, tools, lifecycle: [approval({ ask })] });
    const other = new Agent({ model, store: elsewhere(store) });
    const [session, there] = [await agent.session({ id: 's' }), await other.session({ id: 's' })];
    const running = session.run('Build it.');
    await until(() => signals.length === 1);
    return { built, held, signals, model, session, there, running };
  }

  test('ends as denied by an urgent message, and the calls behind it are not asked about', async () => {
    const { built, signals, model, there, running } = await asked();

    await there.send('No, wait.', { when: 'now' });

    expect((await running).text).toBe('Done.');
    expect(transcript(model.requests[1]?.messages ?? []).slice(2)).toEqual([
      'tool: call_1!The call was denied: The person went on without a decision., call_2!The call was denied: The person went on without a decision.',
      'user: No, wait.',
    ]);
    expect([built, signals.map(({ aborted }) => aborted)]).toEqual([[], [true]]);
  });

  test('does not end by another message, which joins behind the calls', async () => {
    const { built, held, model, there, running } = await asked();

    await there.send('And then?');
    held.open();

    await running;
    expect(built).toEqual(['built', 'built']);
    expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe('user: And then?');
  });

  test('ends with the run by a stop', async () => {
    const { built, signals, there, running } = await asked();
    const failed = rejectionOf(running);

    await there.stop({ reason: 'enough' });

    expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect([built, signals[0]?.aborted]).toEqual([[], true]);
  });
});

describe('a stop of a suspended run', () => {
  test('denies the calls that wait, with the reason, and the conversation goes on', async () => {
    const paid: string[] = [];
    const model = scriptedModel([calls('pay'), 'Gone on.']);
    const tools = [toolOf('pay', () => void paid.push('paid') as never)];
    const store = new MemorySessionStore();
    const agent = new Agent({ model, store, tools, lifecycle: [approval()] });
    const [session, there] = [
      await agent.session({ id: 's' }),
      await agent.session({ id: 's', store: elsewhere(store) }),
    ];
    await session.run('Pay.');

    const stopped = await there.stop({ reason: 'too dear', by: 'ada' });

    expect([stopped, await there.stop()]).toEqual([true, false]);
    await session.run('And now?');
    expect(transcript(model.requests[1]?.messages ?? []).slice(2)).toEqual([
      'tool: call_1!The call was denied: too dear',
      'user: And now?',
    ]);
    expect(session.entries.find(({ body }) => body.type === 'decision')).toMatchObject({ by: 'ada' });
    expect(paid).toEqual([]);
  });

  test('denies an answer that waits', async () => {
    const model = scriptedModel(['A secret.', 'Gone on.']);
    const once = { afterModel: () => (model.requests.length === 1 ? HookAction.suspend('look') : undefined) };
    const agent = new Agent({ model, store: new MemorySessionStore(), lifecycle: [once] });
    const session = await agent.session({ id: 's' });
    await session.run('Hi.');

    expect(await session.stop()).toBe(true);

    expect((await session.run('And now?')).text).toBe('Gone on.');
    expect(model.requests[1]?.messages[1]).toMatchObject({ denied: true });
  });
});

test('a message that another process sends while its run begins is said once', async () => {
  const store = new MemorySessionStore();
  const entered = gate();
  const model = scriptedModel(['Hello.']);
  const slow = { beforeAgent: (input: string) => entered.pass().then(() => input) };
  const agent = new Agent({ model, store, lifecycle: [slow] });
  const other = new Agent({ model: scriptedModel([]), store: elsewhere(store) });
  const [session, there] = [await agent.session({ id: 's' }), await other.session({ id: 's' })];
  const running = session.run('Hi.', { id: 'm' });
  await until(() => entered.arrived === 1);

  const sent = await there.send('Hi.', { id: 'm' });
  entered.open();
  await running;

  expect(transcript(messagesOf(store.load('s')?.entries ?? []))).toEqual(['user: Hi.', 'assistant: Hello.']);
  expect(await sent.state()).toMatchObject({ type: 'joined', entry: 'm', modelCall: 1 });
  expect(await sent.cancel()).toBe(false);
});
