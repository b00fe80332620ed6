import {
  Agent,
  type AgentLifecycle,
  MemorySessionStore,
  type Message,
  type ModelResponse,
  messagesOf,
  type RunError,
} from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { transcript } from '../support/agent/transcript.js';
import { manualClock, settled } from '../support/lifecycle/manual-clock.js';
import { keepingLogger } from '../support/lifecycle/sample-agent.js';

const tools = [toolOf('work', () => 'worked')];
const whole = ['user: Hello', 'assistant: call call_1 work', 'tool: call_1=worked'];

/** Removes the tool results, which leaves a tool call without a result. */
function dropResults(messages: readonly Message[]): void {
  const at = messages.findIndex(({ role }) => role === 'tool');
  if (at >= 0) (messages as Message[]).splice(at, 1);
}

describe('a beforeModel hook that damages the array in place', () => {
  const hooks: Readonly<Record<string, AgentLifecycle['beforeModel']>> = {
    synchronously: (messages) => dropResults(messages),
    asynchronously: async (messages) => {
      await settled();
      dropResults(messages);
    },
    'and throws': (messages) => {
      dropResults(messages);
      if (messages.length > 1) throw new TypeError('broken');
    },
  };

  it.each(Object.entries(hooks))('%s fails, and the damage is undone and not saved', async (_, beforeModel) => {
    const store = new MemorySessionStore();
    const lifecycle = [{ name: 'vandal', beforeModel }];
    const agent = new Agent({ model: scriptedModel([calls('work'), 'done']), store, tools, lifecycle });
    const session = await agent.session({ id: 's' });

    const error = (await rejectionOf(session.run('Hello'))) as RunError;

    expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'vandal', point: 'beforeModel' });
    expect(transcript(error.history)).toEqual(whole);
    expect(transcript(messagesOf((await store.load('s'))?.entries ?? []))).toEqual(whole);
  });

  it.each(Object.entries(hooks))('%s is skipped with `onFailure: continue`', async (_, beforeModel) => {
    const lifecycle = [{ beforeModel, onFailure: 'continue' as const }];
    const model = scriptedModel([calls('work'), 'done']);
    const agent = new Agent({ model, tools, lifecycle, logger: keepingLogger() });

    expect(transcript((await agent.run('Hello')).history)).toEqual([...whole, 'assistant: done']);
  });
});

describe('a wrap hook that damages the value of `next` in place', () => {
  const damage = (value: object) => Object.assign(value, { content: undefined });

  it.each<[string, AgentLifecycle]>([
    ['an asynchronous hook', { wrapModelCall: async (_, next) => damage(await next()) as never }],
    ['a hook that returns another promise', { wrapModelCall: (_, next) => next().then(damage as never) }],
    [
      'a hook whose failure is ignored',
      { onFailure: 'continue', wrapModelCall: async (_, next) => damage(await next()) as never },
    ],
    ['a hook with a time limit', { timeoutMs: 1_000, wrapModelCall: async (_, next) => damage(await next()) as never }],
  ])('ends the run with a typed error if it is %s around the model', async (_what, hook) => {
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [{}, hook, {}], logger: keepingLogger() });

    expect(await rejectionOf(agent.run('Hello'))).toMatchObject({
      code: 'ERR_HOOK_RESULT_INVALID',
      message: expect.stringContaining('wrapModelCall'),
    });
  });

  it('gives the model an error result if it is around a tool', async () => {
    const hook: AgentLifecycle = { wrapToolCall: async (_, next) => damage(await next()) as never };
    const agent = new Agent({ model: scriptedModel([calls('work'), 'done']), tools, lifecycle: [hook] });

    const { history } = await agent.run('Hello');

    expect(transcript(history)[2]).toContain('A wrapToolCall hook removed the content of the result');
  });
});

it('undoes the damage of a hook only, and keeps what an earlier hook changed in place', async () => {
  const note: Message = { role: 'user', content: 'Note' };
  const lifecycle: AgentLifecycle[] = [
    { beforeModel: (messages) => void (messages as Message[]).push(note) },
    {
      onFailure: 'continue',
      beforeModel: (messages) => {
        (messages as Message[]).push({ ...note, content: 'Another' });
        throw new TypeError('broken');
      },
    },
    { onFailure: 'continue', beforeModel: (messages) => void (messages as unknown[]).push(7) },
    { onFailure: 'continue', afterModel: (response) => void Object.assign(response, { finishReason: 'length' }) },
    {
      onFailure: 'continue',
      afterModel: (response) => void Object.assign(response, { content: 7, finishReason: 'x' }),
    },
  ];
  const agent = new Agent({ model: scriptedModel(['done']), lifecycle, logger: keepingLogger() });

  const result = await agent.run('Hello');

  expect(transcript(result.history)).toEqual(['user: Hello', 'user: Note', 'user: Another', 'assistant: done']);
  expect(result.finishReason).toBe('length');
});

it.each([
  ['content', [{ type: 'text', text: 'changed' }]],
  ['finishReason', 'length'],
  ['usage', { inputTokens: 1, outputTokens: 1, totalTokens: 2 }],
  ['providerMetadata', { own: { n: 1 } }],
  ['annotations', [{ type: 'note' }]],
] as const)(
  'keeps the change of `%s` by an earlier afterModel hook when a later hook damages the response',
  async (field, value) => {
    const seen: unknown[] = [];
    const lifecycle: AgentLifecycle[] = [
      { afterModel: (response) => void Object.assign(response, { [field]: value }) },
      { onFailure: 'continue', afterModel: (response) => void Object.assign(response, { content: 7, [field]: 8 }) },
      { afterModel: (response) => void seen.push(response[field]) },
    ];

    await new Agent({ model: scriptedModel(['done']), lifecycle, logger: keepingLogger() }).run('Hello');

    expect(seen).toEqual([value]);
  },
);

it.each<[string, AgentLifecycle['beforeModel']]>([
  ['a synchronous', (messages) => [...messages, { role: 'user', content: 'Note' }]],
  ['an asynchronous', async (messages) => [...messages, { role: 'user', content: 'Note' }]],
])('keeps the messages that %s hook returned when a later hook damages them', async (_kind, beforeModel) => {
  const damage: AgentLifecycle['beforeModel'] = (messages) => {
    (messages as unknown[]).push(7);
    throw new TypeError('broken');
  };
  for (const damaging of [damage, async (messages: Message[]) => damage(messages, {} as never)]) {
    const lifecycle: AgentLifecycle[] = [{ beforeModel }, { onFailure: 'continue', beforeModel: damaging }];
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle, logger: keepingLogger() });

    expect(transcript((await agent.run('Hello')).history)).toEqual(['user: Hello', 'user: Note', 'assistant: done']);
  }
});

describe('an afterModel hook that damages the response', () => {
  const damage = (response: object) => void Object.assign(response, { content: undefined });
  const addPart = ({ content }: ModelResponse) => void (content as unknown[]).push({ type: 'text' });
  const hooks: Readonly<Record<string, AgentLifecycle['afterModel']>> = {
    synchronously: (response) => damage(response),
    asynchronously: async (response) => damage(response),
    'in its array of parts': (response) => addPart(response),
    'in its array of parts, asynchronously': async (response) => addPart(response),
  };

  it.each(Object.entries(hooks))('%s fails', async (_, afterModel) => {
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [{ name: 'vandal', afterModel }] });

    expect(await rejectionOf(agent.run('Hello'))).toMatchObject({
      ...{ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'vandal', point: 'afterModel' },
      cause: { code: 'ERR_RESPONSE_INVALID' },
    });
  });

  it.each(Object.entries(hooks))('%s is skipped with `onFailure: continue`', async (_, afterModel) => {
    const lifecycle = [{ afterModel, onFailure: 'continue' as const }];
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle, logger: keepingLogger() });

    expect((await agent.run('Hello')).text).toBe('done');
  });

  it.each(['throw', 'block', 'continue'] as const)(
    'ends the run with `onFailure: %s` if the damage is inside a part',
    async (onFailure) => {
      const afterModel = ({ content }: ModelResponse) => void Object.assign(content[0] as object, { text: 5 });
      const lifecycle: AgentLifecycle[] = [{ name: 'vandal', onFailure, afterModel }];
      const agent = new Agent({ model: scriptedModel(['done']), lifecycle, logger: keepingLogger() });

      expect(await rejectionOf(agent.run('Hello'))).toMatchObject({ message: expect.stringContaining('vandal') });
    },
  );
});

it('runs a tool once if the check of its arguments is a thenable that calls back twice', async () => {
  let executed = 0;
  const twice = {
    // biome-ignore lint/suspicious/noThenProperty: a foreign thenable is the subject of this test.
    then(resolve: (value: { value: unknown }) => void) {
      resolve({ value: {} });
      resolve({ value: {} });
    },
  };
  const tool = { ...toolOf('work', () => String(++executed)), check: () => twice as never };
  const agent = new Agent({ model: scriptedModel([calls('work'), 'done']), tools: [tool] });

  await agent.run('Hello');

  expect(executed).toBe(1);
});

describe('an asynchronous beforeAgent hook that is pending when its run ends', () => {
  function opener(timeoutMs?: number) {
    const log: string[] = [];
    let open = () => {};
    const lifecycle: AgentLifecycle = {
      ...{ name: 'opener', timeoutMs },
      beforeAgent: async () => {
        await new Promise<void>((resolve) => (open = resolve));
        log.push('open');
      },
      afterAgent: () => void log.push('close'),
      onError: (error) => void log.push(`close: ${(error as RunError).code}`),
    };
    return { log, lifecycle, open: () => open() };
  }

  it('gets onError once it has returned, if the run was aborted', async () => {
    const { log, lifecycle, open } = opener();
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [lifecycle] });
    const stop = new AbortController();
    const failed = rejectionOf(agent.run('Hello', { signal: stop.signal }));
    stop.abort();

    expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(log).toEqual([]);
    open();
    await settled();
    expect(log).toEqual(['open', 'close: ERR_RUN_ABORTED']);
  });

  it('gets onError once it has returned, if the hook timed out', async () => {
    const { log, lifecycle, open } = opener(10);
    const clock = manualClock();
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [lifecycle], clock });
    const failed = rejectionOf(agent.run('Hello'));
    await clock.advance(10);

    expect(await failed).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED' });
    open();
    await settled();
    expect(log).toEqual(['open', 'close: ERR_LIFECYCLE_FAILED']);
  });

  it('gets no onError if the hook itself fails', async () => {
    const log: string[] = [];
    const lifecycle = { beforeAgent: () => Promise.reject(new TypeError('x')), onError: () => void log.push('error') };
    await rejectionOf(new Agent({ model: scriptedModel([]), lifecycle: [lifecycle] }).run('Hello'));
    await settled();

    expect(log).toEqual([]);
  });
});

describe('beforeAgent of a run without an input', () => {
  const polite: AgentLifecycle = { name: 'polite', beforeAgent: (input) => `${input} Please keep it short.` };

  it('adds no message to a resumed run, and records no decision', async () => {
    const suspend: AgentLifecycle = {
      wrapToolCall: (call, next) => (call.approved ? next() : { type: 'suspend', reason: 'ask' }),
    };
    const agent = new Agent({ model: scriptedModel([calls('work'), 'done']), tools, lifecycle: [polite, suspend] });
    const { history, pending } = await agent.run('Hello.');

    const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
    const resumed = await agent.run('', { messages: history, resume });

    expect(transcript(resumed.history)).toEqual([
      'user: Hello. Please keep it short.',
      ...whole.slice(1),
      'assistant: done',
    ]);
    expect(resumed.decisions.filter(({ by }) => by === 'polite')).toEqual([]);
  });

  it('may still end the run', async () => {
    const closed: AgentLifecycle = { beforeAgent: () => ({ type: 'respond', text: 'closed' }) };
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [polite, closed] });

    expect((await agent.run('', { messages: [{ role: 'user', content: 'Hello' }] })).text).toBe('closed');
  });
});
