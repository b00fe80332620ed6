import { existsSync } from 'node:fs';
import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  HookAction,
  MemorySessionStore,
  messagesOf,
  modelMessagesOf,
  type RunOptions,
  type Session,
  textOf,
} from 'keelson';
import { calls, fails, says, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { createDeferred } from '../../src/internal/promise.js';
import { HOOKS } from '../../src/lifecycle/registered-lifecycle.js';
import { HOOK_EVENTS } from '../../src/programs/hook-event.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { LATE, within } from '../support/agent/settle.js';
import { createAgent, roles, type Script } from '../support/docs/claim-agent.js';
import { readPage, root, rowsOf } from '../support/docs/doc-files.js';

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

describe('the entries in the tables of pages', () => {
  const specifiers = readEntries().map(({ specifier }) => specifier);
  const namesOf = async (specifier: string) => Object.keys(await import(specifier));

  test('the table of entries in AGENTS.md lists each entry, with values that it exports', async () => {
    const table = readPage('AGENTS.md').split('\n## Entries\n')[1] ?? '';
    const rows = rowsOf(table).slice(2);
    const listed = rows.flatMap(([entries = '']) => [...entries.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const claimed = rows.map(async ([entries = '', contents = '']) => {
      const exported = (
        await Promise.all([...entries.matchAll(/`([^`]+)`/g)].map(([, it = '']) => namesOf(it)))
      ).flat();
      return [...contents.matchAll(/`(\w+)`/g)].filter(([, name = '']) => !exported.includes(name));
    });

    expect(listed.sort()).toEqual([...specifiers].sort());
    expect((await Promise.all(claimed)).flat()).toEqual([]);
  });

  test('the entries in the tables of pages have the classes beside them', async () => {
    const rows = rowsOf(readPage('docs/which-store.md'));
    const stores = rows.flatMap(([, name = '', entry = '']) => {
      const found = [/^`(\w+Store)`$/.exec(name)?.[1], /^`(keelson\/\w+)`$/.exec(entry)?.[1]] as const;
      return found[0] && found[1] ? [[found[0], found[1]] as const] : [];
    });
    const [logs = [], imports = []] = [
      rows.find((row) => row[1] === '`MemoryRunLog`'),
      rows.find(([it]) => it === 'import'),
    ];
    const all = [...stores, ...logs.slice(1).map((name, at) => [name, imports[at + 1] ?? ''] as const)];
    const missing = all.map(async ([name, entry]) => {
      const exported = await namesOf(entry.replaceAll('`', ''));
      const state = name.replace('SessionStore', 'StateStore');
      return [name, state].map((it) => it.replaceAll('`', '')).filter((it) => !exported.includes(it));
    });

    expect(all).toHaveLength(7);
    expect(rows.some((row) => row[1] === '`MemorySessionStore`' && row[2] === '`keelson`')).toBe(true);
    expect([...(await namesOf('keelson')), ...(await namesOf('keelson/extension'))]).toEqual(
      expect.arrayContaining(['MemorySessionStore', 'MemoryStateStore']),
    );
    expect((await Promise.all(missing)).flat()).toEqual([]);
  });
});

test('the numbers of README.md and CHANGELOG.md', () => {
  expect(readPage('README.md')).toContain('up to [twelve hooks]');
  expect(HOOKS).toHaveLength(12);
  expect(readPage('CHANGELOG.md')).toContain('at eighteen events');
  expect(HOOK_EVENTS).toHaveLength(18);
});

describe('claims.md', () => {
  const pages = ['README.md', 'CHANGELOG.md', 'AGENTS.md', 'docs/limits.md', 'docs/errors.md', 'docs/which-store.md'];
  const claims = readPage('docs/claims.md');
  /** The files of a cell, each with the title behind it. */
  const testsIn = (cell: string) => [...cell.matchAll(/`([\w./-]+\.(?:ts|mjs))`(?: "([^"]+)")?/g)];
  const rowsBelow = (page: string) => rowsOf(claims.split(`\n## ${page}\n`)[1]?.split('\n## ')[0] ?? '').slice(2);

  test.each(pages)('has the claims of %s, each with a test', (page) => {
    const rows = rowsBelow(page);

    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter((row) => row.length !== 2 || testsIn(row[1] ?? '').length === 0)).toEqual([]);
  });

  test('names tests that exist', () => {
    const tests = pages.flatMap((page) => rowsBelow(page).flatMap(([, cell = '']) => testsIn(cell)));
    const strays = tests.filter(
      ([, path = '', title = '']) => !existsSync(root + path) || !readPage(path).includes(title),
    );

    expect(tests.length).toBeGreaterThan(200);
    expect(strays.map(([found]) => found)).toEqual([]);
  });
});
