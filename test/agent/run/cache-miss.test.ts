import {
  Agent,
  type AgentEventOf,
  type AgentLifecycle,
  type AgentOptions,
  createToolSet,
  defineTool,
  MemorySessionStore,
  type Message,
} from 'keelson';
import { compaction, promptCache, truncateToolResults } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { echo } from '../../support/agent/sample-tools.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';

type Miss = AgentEventOf<'cache-miss'>;

const clock = manualClock();
/** Each request has 5,000 tokens, of which the service reads so many from its cache. */
const read = (cachedInputTokens: number) => ({ usage: { inputTokens: 5_000, outputTokens: 5, cachedInputTokens } });
const searching = (execute: () => void | Promise<void>) =>
  defineTool({ name: 'search', description: 'Finds.', input: z.object({}), execute });
const search = searching(() => {});
const call = says('', { calls: [{ name: 'search', input: {} }], ...read(0) });

/** Runs an agent that calls a tool and then answers. Returns the misses of its second model call. */
async function missesOf(options: Partial<AgentOptions>, script = [call, says('done', read(128))]): Promise<Miss[]> {
  const misses: Miss[] = [];
  const agent = new Agent({ model: scriptedModel(script), tools: [search, echo], clock, ...options });
  agent.on('cache-miss', (event) => void misses.push(event));
  await agent.run('go', {
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
    ],
  });
  return misses;
}

const inTurn2 = <T>(run: { readonly turn: number }, value: T): T | undefined => (run.turn === 2 ? value : undefined);
const innocent: AgentLifecycle = {
  name: 'innocent',
  wrapModelCall: (request, next) => next({ ...request, settings: { ...request.settings, seed: 1 } }),
};

const culprits: readonly (readonly [string, AgentLifecycle, object])[] = [
  [
    'a timestamp that a hook adds to the instructions',
    {
      wrapModelCall: (request, next) =>
        next({
          ...request,
          messages: [{ role: 'system', content: `It is ${request.run.turn} o'clock.` }, ...request.messages],
        }),
    },
    { part: 'instructions' },
  ],
  [
    'tools in another order',
    { beforeToolSelection: (tools, run) => inTurn2(run, [...tools].reverse()) },
    { part: 'tool', index: 0, name: 'echo' },
  ],
  [
    'a tool that is left out',
    { beforeToolSelection: (tools, run) => inTurn2(run, tools.slice(0, 1)) },
    { part: 'tool', index: 1, name: 'echo' },
  ],
  [
    'a tool with another description',
    {
      wrapModelCall: (request, next) =>
        next({
          ...request,
          tools: request.tools.map((tool) => ({ ...tool, description: `Turn ${request.run.turn}.` })),
        }),
    },
    { part: 'tool', index: 0, name: 'search' },
  ],
  [
    'an earlier message that is changed',
    {
      beforeModel: (messages, run) =>
        inTurn2(
          run,
          messages.map((message, at): Message => (at === 1 ? { role: 'assistant', content: [] } : message)),
        ),
    },
    { part: 'message', index: 1, role: 'assistant' },
  ],
  [
    'a message that is added first',
    { beforeModel: (messages, run) => inTurn2(run, [{ role: 'user', content: 'Note' } as const, ...messages]) },
    { part: 'message', index: 0, role: 'user' },
  ],
  [
    'a message that is removed',
    { beforeModel: (messages, run) => inTurn2(run, messages.slice(2)) },
    { part: 'message', index: 0, role: 'user' },
  ],
  [
    'a message that is changed for one call only',
    {
      wrapModelCall: (request, next) =>
        request.run.turn === 1
          ? next({ ...request, messages: request.messages.map((message) => ({ ...message, content: 'x' }) as Message) })
          : next(),
    },
    { part: 'message', index: 0, role: 'user' },
  ],
  [
    'another tool choice',
    { wrapModelCall: (request, next) => next({ ...request, toolChoice: request.run.turn === 1 ? 'auto' : 'none' }) },
    { part: 'settings', name: 'toolChoice' },
  ],
];

describe('the event cache-miss', () => {
  test.each(culprits)('names %s, and the lifecycle', async (_title, culprit, difference) => {
    const misses = await missesOf({ lifecycle: [{ ...culprit, name: 'culprit' }, innocent] });

    expect(misses).toMatchObject([
      { cause: 'changed', difference, by: ['culprit'], cachedTokens: 128, expectedTokens: 5_000 },
    ]);
  });

  test('names a compaction', async () => {
    const lifecycle = [compaction({ maxMessages: 4, keep: 1, summarize: () => 'Hi.' })];

    const misses = await missesOf({ lifecycle });

    expect(misses).toMatchObject([{ cause: 'changed', difference: { part: 'message', index: 0 }, by: ['compaction'] }]);
  });

  test('finds a timestamp in the instructions, also between the runs of a session that is opened again', async () => {
    let now = 0;
    const store = new MemorySessionStore();
    const misses: Miss[] = [];
    const model = scriptedModel([says('one', read(0)), says('two', read(128))]);
    const agent = new Agent({ model, store, clock, instructions: () => `It is ${++now} o'clock.` });
    agent.on('cache-miss', (event) => void misses.push(event));
    for (const input of ['go', 'on']) {
      const session = await agent.session({ id: 's' });
      await session.run(input);
      await session.close();
    }

    expect(misses).toMatchObject([{ cause: 'changed', difference: { part: 'instructions' }, by: [] }]);
  });

  test('finds a set of tools that changes between two turns', async () => {
    const tools = createToolSet([searching(() => void tools.add(echo))]);

    expect(await missesOf({ tools })).toMatchObject([{ difference: { part: 'tool', index: 1, name: 'echo' }, by: [] }]);
  });

  test.each<[string, { cause: Miss['cause']; ms: number; options?: Partial<AgentOptions> }]>([
    ['the time to live has passed', { cause: 'expired', ms: 300_000 }],
    [
      'the longer time to live has passed',
      { cause: 'expired', ms: 3_600_000, options: { lifecycle: [promptCache({ ttl: '1h' })] } },
    ],
    ['the service has dropped its cache', { cause: 'evicted', ms: 299_000 }],
    [
      'the service has dropped its cache early',
      { cause: 'evicted', ms: 3_599_000, options: { lifecycle: [promptCache({ ttl: '1h' })] } },
    ],
  ])('names nobody if %s', async (_title, { cause, ms, options }) => {
    const waiting = searching(() => clock.advance(ms));

    expect(await missesOf({ ...options, tools: [waiting] })).toMatchObject([{ cause, difference: undefined, by: [] }]);
  });

  test('names nobody if another model answers', async () => {
    const other = scriptedModel([says('done', read(0))], { id: 'other' });
    const swap: AgentLifecycle = {
      wrapModelCall: (request, next) => next(request.run.turn === 2 ? { ...request, model: other } : request),
    };

    expect(await missesOf({ lifecycle: [swap] })).toMatchObject([
      { cause: 'other-model', difference: undefined, by: [] },
    ]);
  });

  test.each([
    ['for the first request', [says('done', read(0))]],
    [
      'for a request that is too short',
      [
        says('', {
          calls: [{ name: 'search', input: {} }],
          usage: { inputTokens: 900, outputTokens: 1, cachedInputTokens: 0 },
        }),
        says('done', read(0)),
      ],
    ],
    ['if the whole request before was read from the cache', [call, says('done', read(4_864))]],
    ['if the service does not report cached tokens', [calls('search', {}), 'done']],
    [
      'if the service says that it has cached nothing',
      [
        says('', {
          calls: [{ name: 'search', input: {} }],
          usage: { inputTokens: 5_000, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 },
        }),
        says('done', read(0)),
      ],
    ],
  ])('is not emitted %s', async (_title, script) => {
    expect(await missesOf({ lifecycle: [truncateToolResults({ maxChars: 10 })] }, script as never)).toEqual([]);
  });
});
