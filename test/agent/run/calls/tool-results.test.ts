import { Agent, type AgentLifecycle, HookAction, type RunError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { echo, toolOf } from '../../../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../../../support/agent/settle.js';
import { resultsIn, transcript } from '../../../support/agent/transcript.js';

const three = [calls({ name: 'a' }, { name: 'b' }, { name: 'c' }), 'done'];
const slow = (name: string, ms: number) =>
  toolOf(name, async () => {
    await pause(ms);
    return name;
  });

describe('every call has exactly one result, in call order,', () => {
  test('with different durations', async () => {
    const agent = new Agent({ model: scriptedModel(three), tools: [slow('a', 6), slow('b', 3), slow('c', 0)] });

    expect(transcript((await agent.run('go')).messages)).toEqual([
      'user: go',
      'assistant: call call_1 a, call call_2 b, call call_3 c',
      'tool: call_1=a, call_2=b, call_3=c',
      'assistant: done',
    ]);
  });

  test('after a tool that throws, an unknown tool, and invalid arguments', async () => {
    const model = scriptedModel([
      calls(
        { name: 'broken' },
        { name: 'missing' },
        { name: 'echo', input: { text: 5 } },
        { name: 'echo', input: { text: 'fine' } },
      ),
      'done',
    ]);
    const agent = new Agent({
      model,
      tools: [
        echo,
        toolOf('broken', () => {
          throw new Error('it broke');
        }),
      ],
    });

    expect(resultsIn((await agent.run('go')).messages)).toEqual({
      call_1: '!it broke',
      call_2: '!There is no tool "missing". Tools: echo, broken.',
      call_3: '!The arguments of "echo" are not valid: text: Invalid input: expected string, received number',
      call_4: 'fine',
    });
  });

  test.each<[string, string, (resolve: (value: unknown) => void) => void]>([
    ['settles twice', 'one', (resolve) => [resolve('one'), resolve('two')]],
    ['resolves to another promise', 'inner', (resolve) => resolve(Promise.resolve('inner'))],
    [
      'throws',
      '!no then',
      () => {
        throw new Error('no then');
      },
    ],
  ])('after a thenable that %s, and the other calls continue', async (_what, expected, then) => {
    const tools = [toolOf('a', () => ({ then })), slow('b', 2), slow('c', 0)];
    const { messages } = await new Agent({ model: scriptedModel(three), tools }).run('go');

    expect(resultsIn(messages)).toEqual({ call_1: expected, call_2: 'b', call_3: 'c' });
  });

  test('after a denial by a hook, and the other calls continue', async () => {
    const deny: AgentLifecycle = {
      wrapToolCall: (call, next) => (call.name === 'b' ? { content: 'denied', isError: true } : next()),
    };
    const agent = new Agent({
      model: scriptedModel(three),
      tools: [slow('a', 1), slow('b', 0), slow('c', 1)],
      lifecycle: [deny],
    });

    expect(resultsIn((await agent.run('go')).messages)).toEqual({ call_1: 'a', call_2: '!denied', call_3: 'c' });
  });

  test('after a hook that fails, and the error of the run has all results', async () => {
    const agent = new Agent({
      model: scriptedModel(three),
      tools: [slow('a', 0), slow('b', 0), slow('c', 60_000)],
      lifecycle: [
        {
          name: 'faulty',
          wrapToolCall: async (call, next) => {
            const result = await next();
            await pause(call.name === 'b' ? 5 : 0);
            if (call.name === 'b') throw new Error('no more');
            return result;
          },
        },
      ],
    });

    const error = (await rejectionOf(agent.run('go'))) as RunError;

    expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'faulty', point: 'wrapToolCall' });
    expect(resultsIn(error.messages)).toEqual({
      call_1: 'a',
      call_2: '!The call was not completed: Lifecycle "faulty" failed in wrapToolCall: no more',
      call_3: '!The call was not completed: Lifecycle "faulty" failed in wrapToolCall: no more',
    });
  });

  test.each([
    ['reject', HookAction.reject('forbidden'), '!The call was not completed, because the run ended: forbidden'],
    ['respond', HookAction.respond('enough'), '!The call was not completed, because the run ended.'],
  ] as const)('after afterModel returns a %s action, and no tool runs', async (_title, action, result) => {
    const ran: string[] = [];
    const note = (name: string) => toolOf(name, () => void ran.push(name));
    const agent = new Agent({
      model: scriptedModel(three),
      tools: [note('a'), note('b'), note('c')],
      lifecycle: [{ afterModel: () => action }],
    });

    const { messages } = await agent.run('go').catch((error: RunError) => error);

    expect(ran).toEqual([]);
    expect(resultsIn(messages)).toEqual({ call_1: result, call_2: result, call_3: result });
  });

  test('after beforeModel of the next turn ends the run', async () => {
    const agent = new Agent({
      model: scriptedModel(three),
      tools: [slow('a', 0), slow('b', 0), slow('c', 0)],
      lifecycle: [{ beforeModel: (_messages, run) => (run.turn === 2 ? HookAction.reject('forbidden') : undefined) }],
    });

    const error = (await rejectionOf(agent.run('go'))) as RunError;

    expect(resultsIn(error.messages)).toEqual({ call_1: 'a', call_2: 'b', call_3: 'c' });
  });

  test('after the model fails in the next turn, and a new run can continue from `error.history`', async () => {
    const agent = new Agent({
      model: scriptedModel(three.slice(0, 1)),
      tools: [slow('a', 0), slow('b', 0), slow('c', 0)],
    });
    const error = (await rejectionOf(agent.run('go'))) as RunError;

    const result = await new Agent({ model: scriptedModel(['done']) }).run('', { messages: error.history });

    expect(error.code).toBe('ERR_MODEL_FAILED');
    expect(transcript(result.history)).toEqual([
      'user: go',
      'assistant: call call_1 a, call call_2 b, call call_3 c',
      'tool: call_1=a, call_2=b, call_3=c',
      'assistant: done',
    ]);
  });
});

describe('parallelToolCalls', () => {
  test.each([
    [true, 5],
    [false, 1],
    [1, 1],
    [2, 2],
    [100, 5],
  ])('%s runs at most %i of five calls at the same time', async (parallelToolCalls, most) => {
    let running = 0;
    let seen = 0;
    const busy = toolOf('busy', async () => {
      running += 1;
      seen = Math.max(seen, running);
      await pause(2);
      running -= 1;
      return 'ok';
    });
    const [first, ...rest] = Array.from({ length: 5 }, () => ({ name: 'busy' }));
    const model = scriptedModel([calls(first as { name: string }, ...rest), 'done']);

    const { messages } = await new Agent({ model, tools: [busy], parallelToolCalls }).run('go');

    expect(seen).toBe(most);
    expect(Object.values(resultsIn(messages))).toEqual(Array(5).fill('ok'));
  });

  test('1 starts a call when the previous call has its result', async () => {
    const log: string[] = [];
    const noting = (name: string) =>
      toolOf(name, async () => {
        log.push(`${name}>`);
        await pause(1);
        log.push(`<${name}`);
        return name;
      });
    const tools = [noting('a'), toolOf('b', () => void log.push('b')), noting('c')];

    await new Agent({ model: scriptedModel(three), tools, parallelToolCalls: false }).run('go');

    expect(log).toEqual(['a>', '<a', 'b', 'c>', '<c']);
  });
});

describe('a wrap that passes another call id to `next`', () => {
  test.each(['other', 'call_2'])('gets an error result for the id %s, and the tool does not run', async (id) => {
    const executed: string[] = [];
    const tool = toolOf('work', async (_input, { callId }) => {
      executed.push(callId);
      await pause(5);
      return 'worked';
    });
    const renaming: AgentLifecycle = {
      wrapToolCall: (call, next) => next(call.id === 'call_1' ? { ...call, id } : call),
    };
    const model = scriptedModel([calls({ name: 'work' }, { name: 'work' }), 'done']);
    const agent = new Agent({ model, tools: [tool], lifecycle: [renaming] });

    const { history } = await agent.run('Hello');

    expect(executed).toEqual(['call_2']);
    expect(transcript(history)[2]).toMatch(/^tool: call_1!.*call_2=worked/);
  });
});

test('the error that a tool threw is in `tool-end` with its stack, and in the log at debug', async () => {
  class Overdrawn extends Error {}
  const logged: unknown[][] = [];
  const quiet = () => {};
  const logger = { debug: (...entry: unknown[]) => void logged.push(entry), info: quiet, warn: quiet, error: quiet };
  const fail = () => {
    throw new Overdrawn('overdrawn');
  };
  const tools = [toolOf('now', fail), toolOf('later', async () => fail()), toolOf('fine', () => 'ok')];
  const script = [calls({ name: 'now' }, { name: 'later' }, { name: 'fine' }), 'done'];
  // A hook that hides the error from the model does not hide it from the developer.
  const hide: AgentLifecycle = { wrapToolCall: async (call, next) => ({ ...(await next(call)), content: 'hidden' }) };

  for (const lifecycle of [[], [hide]]) {
    const ended: unknown[] = [];
    const agent = new Agent({ model: scriptedModel(script), tools, lifecycle, logger });
    await agent.on('tool-end', ({ name, error }) => void ended.push([name, error])).run('go');

    expect(ended).toEqual(
      expect.arrayContaining([
        ['now', expect.any(Overdrawn)],
        ['later', expect.any(Overdrawn)],
        ['fine', undefined],
      ]),
    );
    expect(logged.splice(0)).toEqual(
      ['now', 'later'].map((name) => [`Tool "${name}" threw an error.`, expect.any(Overdrawn)]),
    );
  }
});

test('a tool that threw, and succeeded when a hook called it again, has no error in `tool-end`', async () => {
  const flaky = vi
    .fn(() => 'ok')
    .mockImplementationOnce(() => {
      throw new Error('busy');
    });
  const again: AgentLifecycle = {
    wrapToolCall: async (call, next) => ((await next(call)).isError ? next(call) : { content: 'It did not throw.' }),
  };
  const ended: unknown[] = [];
  const model = scriptedModel([calls({ name: 'flaky' }), 'done']);
  const agent = new Agent({ model, tools: [toolOf('flaky', flaky)], lifecycle: [again] });
  await agent.on('tool-end', ({ result, error }) => void ended.push([result?.content, error])).run('go');

  expect(ended).toEqual([['ok', undefined]]);
});
