import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  HookAction,
  messagesOf,
  modelMessagesOf,
  type RunOptions,
  type Session,
  textOf,
} from 'keelson';
import { MemorySessionStore } from 'keelson/store';
import { calls, fails, says, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { createDeferred } from '../../src/internal/promise.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { LATE, within } from '../support/agent/settle.js';
import { createAgent, roles, type Script } from '../support/docs/claim-agent.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';

async function eventsOf(agent: Agent, input = 'Hello'): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.stream(input)) events.push(event);
  return events;
}

const EVENTS: Record<AgentEvent['type'], true> = {
  'run-start': true,
  'run-error': true,
  'run-end': true,
  'turn-start': true,
  'turn-end': true,
  'model-start': true,
  'text-delta': true,
  'reasoning-delta': true,
  'tool-input-delta': true,
  'model-error': true,
  'cache-miss': true,
  'compaction-start': true,
  'compaction-end': true,
  'extension-error': true,
  'server-error': true,
  'model-end': true,
  'tool-start': true,
  'tool-delta': true,
  'tool-end': true,
  post: true,
  decision: true,
  handoff: true,
};

describe('streaming-and-events.md', () => {
  test('the table lists every event', () => {
    const rows = rowsOf(readPage('docs/streaming-and-events.md')).map(([type]) => type);
    expect(rows.slice(2).sort()).toEqual(
      Object.keys(EVENTS)
        .map((type) => `\`${type}\``)
        .sort(),
    );
  });

  test('another attempt starts the text again, and holdStream waits for afterModel', async () => {
    const retry: AgentLifecycle = { wrapModelCall: (_request, next) => next().catch(() => next()) };
    const shout: AgentLifecycle = {
      holdStream: true,
      afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: 'SHOUT' }] }),
    };
    const script = [streams(['Hel'], fails()), streams(['He', 'llo'])];
    const deltas = async (agent: Agent) =>
      (await eventsOf(agent)).flatMap((event) =>
        event.type === 'text-delta' ? [`${event.attempt} ${event.text}`] : [],
      );
    expect(await deltas(createAgent(script, [retry]))).toEqual(['1 Hel', '2 He', '2 llo']);
    expect(await deltas(createAgent(script, [retry, shout]))).toEqual(['2 SHOUT']);
  });

  test('a model that cannot stream gives one delta, and a model streams only if somebody listens to deltas', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const asked: boolean[] = [];
    const model = {
      id: 'whole',
      generate: async ({ onPart }: { onPart?: unknown }) => {
        asked.push(onPart !== undefined);
        return { content: [{ type: 'text' as const, text: 'All at once.' }], finishReason: 'stop' as const, usage };
      },
    };
    const agent = new Agent({ model });
    const texts = (await eventsOf(agent)).flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    await agent.on('model-end', () => {}).run('Hello');
    await agent.on('text-delta', () => {}).run('Hello');
    expect({ texts, asked }).toEqual({ texts: ['All at once.'], asked: [true, false, true] });
  });
});

describe('sessions.md: the tables of the record', () => {
  /** Runs once in a new session. Returns the types of its entries, and of messages the roles. */
  async function recordOf(
    script: Script,
    lifecycle: readonly AgentLifecycle[] = [],
    use: (session: Session) => Promise<unknown> = (session) => session.run('Hello'),
  ) {
    const store = new MemorySessionStore();
    const session = await createAgent(script, lifecycle, { store }).session({ id: 's' });
    await use(session).catch(() => {});
    await session.close();
    const entries = store.load('s')?.entries ?? [];
    return { entries, types: entries.map(({ body }) => (body.type === 'message' ? body.message.role : body.type)) };
  }

  test('a failed call, a rejected input and a rejected answer leave the question', async () => {
    const rejected = HookAction.reject('no');

    expect((await recordOf(fails())).types).toEqual(['user']);
    expect((await recordOf('Hi.', [{ beforeAgent: () => rejected }])).types).toEqual(['user']);
    expect((await recordOf('Hi.', [{ afterModel: () => rejected }])).types).toEqual(['user']);
  });

  test('an early end keeps the calls with error results', async () => {
    const ending: AgentLifecycle = {
      wrapToolCall: (call, next) => {
        call.run.end(HookAction.reject('no'));
        return next();
      },
    };
    const { entries, types } = await recordOf(calls('echo'), [ending]);

    expect(types).toEqual(['user', 'assistant', 'tool']);
    expect(entries[2]?.body).toMatchObject({ message: { content: [{ isError: true }] } });
  });

  test('the record has what beforeAgent, afterModel and wrapToolCall return, and not what beforeModel returns', async () => {
    const redact: AgentLifecycle = {
      beforeAgent: () => 'input of beforeAgent',
      beforeModel: (messages) => messages.map((message) => ({ ...message })),
      afterModel: (response, { turn }) =>
        turn === 1
          ? undefined
          : HookAction.modify({ ...response, content: [{ type: 'text', text: 'answer of afterModel' }] }),
      wrapToolCall: async (_call, next) => ({ ...(await next()), content: 'result of wrapToolCall' }),
      afterAgent: () => 'only in the result',
    };
    const hide: AgentLifecycle = { beforeModel: (messages) => [{ role: 'user', content: 'hidden' }, ...messages] };
    const { entries } = await recordOf([calls('echo'), 'Said.'], [redact, hide]);
    const text = JSON.stringify(entries);

    for (const said of ['input of beforeAgent', 'answer of afterModel', 'result of wrapToolCall']) {
      expect(text).toContain(said);
    }
    expect(text).not.toMatch(/Hello|Said|echoed|hidden|only in the result/);
  });

  test('a summary is an entry, and every message stays', async () => {
    const summarize: AgentLifecycle = {
      beforeModel(messages, run) {
        if (messages.length > 2) run.summarize({ text: 'In short.', from: messages.at(-1) });
        return run.messages;
      },
    };
    const { entries, types } = await recordOf(['One.', 'Two.'], [summarize], async (session) => {
      await session.run('1');
      await session.run('2');
    });

    expect(types).toEqual(['user', 'assistant', 'user', 'summary', 'assistant']);
    expect(roles(messagesOf(entries))).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(modelMessagesOf(entries).map(textOf)).toEqual([expect.stringMatching(/In short\.$/), '2', 'Two.']);
  });

  test('calls that wait, the decisions on them and who decided are entries', async () => {
    const gate: AgentLifecycle = {
      wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('wait')),
    };
    const { entries, types } = await recordOf([calls('echo'), says('Done.')], [gate], async (session) => {
      const { pending } = await session.run('3');
      await session.run('', { resume: { [pending[0]?.id ?? '']: 'approve' }, by: 'ada' });
    });

    expect(types).toEqual(['user', 'assistant', 'suspended', 'decision', 'tool', 'assistant']);
    expect(entries[3]?.by).toBe('ada');
  });

  test('calls that wait on another branch can no longer be decided', async () => {
    const gate: AgentLifecycle = { wrapToolCall: () => HookAction.suspend('wait') };
    let refused: unknown;
    await recordOf([calls('echo'), 'Else.'], [gate], async (session) => {
      await session.run('1');
      await session.run('2', { at: null });
      refused = await session.run('', { resume: { call_1: 'approve' } }).catch(({ code }) => code);
    });

    expect(refused).toBe('ERR_RESUME_INVALID');
  });
});

test('agent.md: close waits for a plain run whose model ignores the abort, and ends other runs at once', async () => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const late = { content: [{ type: 'text', text: 'Late.' }], finishReason: 'stop', usage } as const;
  const codeAfter = async (options: RunOptions, lifecycle: readonly AgentLifecycle[] = [], waits = false) => {
    const [called, answer] = [createDeferred<void>(), createDeferred<typeof late>()];
    const generate = () => {
      called.resolve();
      return answer.promise;
    };
    // The time limit of `close` never ends on this clock.
    const agent = new Agent({ model: { id: 'deaf', generate }, lifecycle, clock: fakeClock() });
    const running = agent.run('Hello', options).catch((error) => error.code);
    await called.promise;
    const closing = agent.close();
    if (waits) {
      expect(await within(closing, 50)).toBe(LATE);
      answer.resolve(late);
    }
    await closing;
    return running;
  };
  const { signal } = new AbortController();
  const readsSignal: AgentLifecycle = { beforeAgent: (_input, run) => void run.signal };
  expect(await codeAfter({}, [], true)).toBe('ERR_RUN_ABORTED');
  expect(await codeAfter({ signal })).toBe('ERR_RUN_ABORTED');
  expect(await codeAfter({ timeouts: { runMs: 5_000 } })).toBe('ERR_RUN_ABORTED');
  expect(await codeAfter({}, [readsSignal])).toBe('ERR_RUN_ABORTED');
});
