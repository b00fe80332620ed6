import {
  Agent,
  HookAction,
  MemorySessionStore,
  type Message,
  messagesOf,
  type RunError,
  type SessionInfo,
} from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, fails, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { approval } from '../../support/agent/approval.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

/** Returns the stored messages of a session. */
const storedIn = async (store: SessionStore, id = 's') => transcript(messagesOf((await store.load(id))?.entries ?? []));
const callEcho = calls('echo', { text: 'x' });

describe('a session', () => {
  test('stores its messages, and the next run continues from them', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([callEcho, 'first', 'second']);
    const agent = new Agent({ model, store, tools: [echo] });
    const session = await agent.session({ id: 's' });

    await session.run('one');
    const { messages, history } = await session.run('two');

    const all = [
      ...['user: one', 'assistant: call call_1 echo', 'tool: call_1=x', 'assistant: first'],
      ...['user: two', 'assistant: second'],
    ];
    expect(await storedIn(store)).toEqual(all);
    expect(transcript(session.messages)).toEqual(all);
    expect(transcript(history)).toEqual(all);
    expect(transcript(messages)).toEqual(all.slice(4));
    expect(transcript(model.requests[2]?.messages ?? [])).toEqual(all.slice(0, 5));
  });

  test('can be reopened by its id, also by another agent', async () => {
    const store = new MemorySessionStore();
    await (await new Agent({ model: scriptedModel(['first']), store }).session({ id: 's' })).run('one');

    const model = scriptedModel(['second']);
    const session = await new Agent({ model, store }).session({ id: 's' });
    expect(transcript(session.messages)).toEqual(['user: one', 'assistant: first']);
    await session.run('two');

    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: one', 'assistant: first', 'user: two']);
  });

  test('never stores the instructions', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([callEcho, 'done', 'again']);
    const agent = new Agent({ model, store, tools: [echo], instructions: 'Be brief.' });
    const session = await agent.session({ id: 's' });

    await session.run('one');
    await session.run('two');

    expect(model.requests.map(({ messages }) => transcript(messages)[0])).toEqual(Array(3).fill('system: Be brief.'));
    expect((await storedIn(store)).filter((line) => line.includes('brief'))).toEqual([]);
  });

  test('has the question before the first model call, and each turn before the next one', async () => {
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel([callEcho, callEcho, fails('down')]), store, tools: [echo] });
    const session = await agent.session({ id: 's' });
    const saved: number[] = [];
    agent.use({ beforeModel: async () => void saved.push((await storedIn(store)).length) });

    await rejectionOf(session.run('one'));

    expect(saved).toEqual([1, 3, 5]);
    expect(await storedIn(store)).toEqual([
      'user: one',
      'assistant: call call_1 echo',
      'tool: call_1=x',
      'assistant: call call_2 echo',
      'tool: call_2=x',
    ]);
  });

  const failures: Readonly<Record<string, (agent: Agent, controller: AbortController) => void>> = {
    'a hook fails': (agent) => {
      agent.use({ beforeModel: (_messages, run) => (run.turn === 2 ? Promise.reject(new Error('x')) : undefined) });
    },
    'a lifecycle rejects': (agent) => {
      agent.use({ beforeModel: (_messages, run) => (run.turn === 2 ? HookAction.reject('x') : undefined) });
    },
    'the run is aborted': (agent, controller) => {
      agent.use({ beforeModel: (_messages, run) => (run.turn === 2 ? controller.abort() : undefined) });
    },
  };

  test.each(Object.entries(failures))(
    'keeps its completed turns if %s in the next turn, and can continue',
    async (_title, break_) => {
      const store = new MemorySessionStore();
      const model = scriptedModel([callEcho, 'recovered']);
      const agent = new Agent({ model, store, tools: [echo] });
      const session = await agent.session({ id: 's' });
      const controller = new AbortController();
      break_(agent, controller);
      await rejectionOf(session.run('one', { signal: controller.signal }));

      const kept = await storedIn(store);
      const after = await new Agent({ model, store }).session({ id: 's' });
      await after.run('two');

      expect(kept).toEqual(['user: one', 'assistant: call call_1 echo', 'tool: call_1=x']);
      expect(transcript(after.messages)).toEqual([...kept, 'user: two', 'assistant: recovered']);
    },
  );

  test('keeps a turn whose calls were aborted, with their error results', async () => {
    const store = new MemorySessionStore();
    const controller = new AbortController();
    const agent = new Agent({
      model: scriptedModel([calls('stop')]),
      store,
      tools: [toolOf('stop', () => controller.abort('enough'))],
    });

    await rejectionOf((await agent.session({ id: 's' })).run('one', { signal: controller.signal }));

    expect((await storedIn(store)).at(-1)).toBe('tool: call_1!The call was aborted. The run was aborted: enough');
  });

  test('keeps the text of a respond action', async () => {
    const store = new MemorySessionStore();
    const agent = new Agent({
      model: scriptedModel([]),
      store,
      lifecycle: [{ beforeModel: () => HookAction.respond('cached') }],
    });

    await (await agent.session({ id: 's' })).run('one');

    expect(await storedIn(store)).toEqual(['user: one', 'assistant: cached']);
  });

  test.each([
    ['as a new array', (list: readonly Message[]) => list],
    ['changed in place', (list: readonly Message[], given: Message[]) => given.splice(0, 5, ...list) && given],
  ])('keeps what was said if beforeModel changes what the model reads, %s', async (_where, put) => {
    const store = new MemorySessionStore();
    const model = scriptedModel(['one', 'two', callEcho, 'three']);
    const agent = new Agent({
      model,
      store,
      tools: [echo],
      lifecycle: [
        {
          beforeModel(messages) {
            if (messages.length < 5) return;
            return put([{ role: 'user', content: 'short' }, ...messages.slice(-1)], messages as Message[]);
          },
        },
      ],
    });
    const session = await agent.session({ id: 's' });

    for (const input of ['a', 'b', 'c']) await session.run(input);

    const read = model.requests.map(({ messages }) => transcript(messages));
    expect(read[2]).toEqual(['user: short', 'user: c']);
    expect(read[3]).toEqual(['user: short', 'user: c', 'assistant: call call_1 echo', 'tool: call_1=x']);
    const all = ['user: a', 'assistant: one', 'user: b', 'assistant: two', 'user: c'];
    expect(await storedIn(store)).toEqual([...all, ...(read[3] ?? []).slice(2), 'assistant: three']);
    expect(transcript(session.messages)).toEqual(await storedIn(store));
  });

  test('does not keep messages that a wrap hook only passed to `next`', async () => {
    const store = new MemorySessionStore();
    const hint: Message = { role: 'system', content: 'hint' };
    const model = scriptedModel(['done']);
    const agent = new Agent({
      model,
      store,
      lifecycle: [{ wrapModelCall: (request, next) => next({ ...request, messages: [hint, ...request.messages] }) }],
    });

    await (await agent.session({ id: 's' })).run('one');

    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['system: hint', 'user: one']);
    expect(await storedIn(store)).toEqual(['user: one', 'assistant: done']);
  });

  test('of a plain run is a claim and two appends, and each entry is sent once', async () => {
    const calls_: unknown[] = [];
    class Watched extends MemorySessionStore {
      override claim(...given: Parameters<MemorySessionStore['claim']>) {
        calls_.push(['claim', given[1].known?.length]);
        return super.claim(...given);
      }
      override append(...given: Parameters<MemorySessionStore['append']>) {
        const { length, entries, release } = given[1];
        calls_.push([length, entries.map(({ body }) => 'message' in body && body.message.role), release]);
        return super.append(...given);
      }
    }
    const agent = new Agent({ model: scriptedModel(['hi', callEcho, 'done']), store: new Watched(), tools: [echo] });
    const session = await agent.session();

    await session.run('one');
    await session.run('two');

    expect(calls_).toEqual([
      ['claim', undefined],
      [0, ['user'], false],
      [1, ['assistant'], true],
      ['claim', 2],
      [2, ['user'], false],
      [3, ['assistant'], false],
      [4, ['tool'], false],
      [5, ['assistant'], true],
    ]);
  });

  test('keeps a suspended turn, which a later run can resume', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([calls({ name: 'echo', input: { text: 'x' } }, { name: 'pay' }), 'done']);
    const agent = new Agent({ model, store, tools: [echo, toolOf('pay', () => 'paid')], lifecycle: [approval('pay')] });
    const session = await agent.session({ id: 's' });
    await session.run('one');

    const refused = await rejectionOf(session.run('what now?'));
    const { text } = await session.run('', { resume: { call_2: 'approve' } });

    expect(refused).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['call_2'] });
    expect(text).toBe('done');
    expect(await storedIn(store)).toEqual([
      'user: one',
      'assistant: call call_1 echo, call call_2 pay',
      'tool: call_1=x, call_2=paid',
      'assistant: done',
    ]);
  });

  test('keeps a suspended turn unchanged if the resumed run fails before its calls', async () => {
    const store = new MemorySessionStore();
    const model = scriptedModel([calls({ name: 'echo', input: { text: 'x' } }, { name: 'pay' })]);
    const agent = new Agent({ model, store, tools: [echo, toolOf('pay', () => 'paid')], lifecycle: [approval('pay')] });
    const session = await agent.session({ id: 's' });
    await session.run('one');
    const before = await storedIn(store);
    agent.use({ beforeAgent: () => Promise.reject(new Error('x')) });

    await rejectionOf(session.run('', { resume: { call_2: 'approve' } }));

    expect(await storedIn(store)).toEqual(before);
  });

  test('reads its messages only from the store', async () => {
    const agent = new Agent({ model: scriptedModel(['done']) });
    const session = await agent.session();
    const forged = { messages: [{ role: 'user', content: 'forged' }] } as object;

    const { history } = await session.run('go', forged);

    expect(transcript(history)).toEqual(['user: go', 'assistant: done']);
  });
});

describe('the hooks of a session', () => {
  test('are called once: onSessionStart before the first run, onSessionEnd with all messages', async () => {
    const log: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel(['first', 'second']),
      lifecycle: [
        {
          onSessionStart: ({ id, messages }) => void log.push(['start', id, transcript(messages)]),
          beforeAgent: (input, run) => void log.push([input, run.session?.id]),
          onSessionEnd: ({ id, messages }) => void log.push(['end', id, transcript(messages)]),
        },
      ],
    });

    const session = await agent.session({ id: 's' });
    await session.run('one');
    await session.run('two');
    await session.close();
    await session.close();
    await session[Symbol.asyncDispose]();

    expect(log).toEqual([
      ['start', 's', []],
      ['one', 's'],
      ['two', 's'],
      ['end', 's', ['user: one', 'assistant: first', 'user: two', 'assistant: second']],
    ]);
  });

  test('are not called for a run outside of any session', async () => {
    const seen: (SessionInfo | undefined)[] = [];
    const agent = new Agent({
      model: scriptedModel(['done']),
      lifecycle: [
        {
          onSessionStart: () => expect.fail('a session was opened'),
          beforeAgent: (_input, run) => void seen.push(run.session),
        },
      ],
    });

    await agent.run('go');

    expect(seen).toEqual([undefined]);
  });

  test('prevent the session from opening if onSessionStart fails', async () => {
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [{ name: 'door', onSessionStart: () => Promise.reject(new Error('no entry')) }],
    });

    const error = await rejectionOf(agent.session());

    expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'door', point: 'onSessionStart' });
    expect(agent.status().sessions).toBe(0);
  });

  test('are paired if a later onSessionStart fails, and each onSessionEnd is called after failures', async () => {
    const log: string[] = [];
    const logger = keepingLogger();
    const part = (name: string) => ({
      name,
      onSessionStart: () => void log.push(`${name} start`),
      onSessionEnd: () => {
        log.push(`${name} end`);
        throw new Error(`${name} broke`);
      },
    });
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [part('a'), part('b')], logger });
    const session = await agent.session();
    const failing = agent.use({ name: 'c', onSessionStart: () => Promise.reject(new Error('no entry')) });

    expect(await rejectionOf(agent.session())).toMatchObject({ lifecycle: 'c', point: 'onSessionStart' });
    failing();
    expect(await rejectionOf(session.close())).toMatchObject({ lifecycle: 'a', point: 'onSessionEnd' });

    expect(log).toEqual([
      ...['a start', 'b start'],
      ...['a start', 'b start', 'a end', 'b end'],
      ...['a end', 'b end'],
    ]);
    expect(logger.lines).toEqual([expect.stringContaining('"a" failed in onSessionEnd: a broke')]);
  });

  test('do not change the stored messages at close(), after which no run starts', async () => {
    const store = new MemorySessionStore();
    const session = await new Agent({ model: scriptedModel(['done']), store }).session({ id: 's' });
    await session.run('one');

    await session.close();

    expect(await storedIn(store)).toEqual(['user: one', 'assistant: done']);
    expect(await rejectionOf(session.run('two'))).toMatchObject({ code: 'ERR_SESSION_CLOSED' });
    expect(await rejectionOf(session.stream('two').result)).toMatchObject({ code: 'ERR_SESSION_CLOSED' });
  });
});

describe('a store', () => {
  const failing = (method: 'load' | 'append', least = 0): SessionStore => {
    const memory = new MemorySessionStore();
    const full = () => Promise.reject(new Error('disk full'));
    return storeOver(memory, {
      load: (id, query) => (method === 'load' ? full() : memory.load(id, query)),
      append: (id, append) => (append.length < least ? memory.append(id, append) : full()),
    });
  };

  test('that cannot load prevents the session from opening', async () => {
    const error = await rejectionOf(
      new Agent({ model: scriptedModel([]), store: failing('load') }).session({ id: 's' }),
    );

    expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', session: 's', cause: { message: 'disk full' } });
  });

  test('that cannot save ends the run, and the error has the messages', async () => {
    const store = failing('append', 2);
    const agent = new Agent({ model: scriptedModel([callEcho, 'done']), store, tools: [echo] });

    const error = (await rejectionOf((await agent.session({ id: 's' })).run('one'))) as RunError;

    expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', session: 's', usage: { totalTokens: 15 } });
    expect(transcript(error.messages)).toEqual(['user: one', 'assistant: call call_1 echo', 'tool: call_1=x']);
  });
});
