import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  HookAction,
  MemorySessionStore,
  type Message,
  type RunOptions,
} from 'keelson';
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
  'compaction-start': true,
  'compaction-end': true,
  'extension-error': true,
  'server-error': true,
  'model-end': true,
  'tool-start': true,
  'tool-delta': true,
  'tool-end': true,
  decision: true,
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

describe('sessions.md: what is saved', () => {
  test('complete turns are saved, even if the run ends early; failed model calls and rejected responses are not', async () => {
    const store = new MemorySessionStore();
    const saved = () => roles(store.load('s')?.messages ?? []);
    const run = async (script: Script, lifecycle: readonly AgentLifecycle[] = []) => {
      const session = await createAgent(script, lifecycle, { store }).session({ id: 's' });
      await session.run('Hello').catch(() => {});
      await session.close();
    };
    await run(fails());
    await run(calls('echo'), [{ afterModel: () => HookAction.reject('no') }]);
    expect(saved()).toEqual([]);
    await run([calls('echo'), fails()]);
    expect(saved()).toEqual(['user', 'assistant', 'tool']);
    const ending: AgentLifecycle = {
      wrapToolCall: (call, next) => {
        call.run.end(HookAction.reject('no'));
        return next();
      },
    };
    await run(calls('echo'), [ending]);
    expect(saved()).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'tool']);
    expect(store.load('s')?.messages[5]?.content).toMatchObject([{ isError: true }]);
  });

  test('compaction and pending calls are saved', async () => {
    const store = new MemorySessionStore();
    const summary: Message = { role: 'user', content: 'In short.' };
    const compact: AgentLifecycle = { beforeModel: (messages) => (messages.length > 2 ? [summary] : undefined) };
    const gate: AgentLifecycle = {
      wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('wait')),
    };
    const agent = createAgent(['One.', 'Two.', calls('echo'), says('Done.')], [compact, gate], { store });
    const session = await agent.session({ id: 's' });
    await session.run('1');
    await session.run('2');
    expect(store.load('s')?.messages[0]).toEqual(summary);
    const { pending } = await session.run('3');
    expect(roles(store.load('s')?.messages ?? [])).toEqual(['user', 'assistant']);
    const { text } = await session.run('', { resume: { [pending[0]?.id ?? '']: 'approve' } });
    expect(text).toBe('Done.');
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
