import {
  Agent,
  type AgentOptions,
  MemorySessionStore,
  type Model,
  type RunError,
  type Timeouts,
  type Tool,
} from 'keelson';
import { calls, delays, hangs, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until, within } from '../../support/agent/settle.js';
import { resultsIn, transcript } from '../../support/agent/transcript.js';

const never = () => new Promise<never>(() => {});

/** Makes an agent with a clock that the test advances. */
function arrange(options: Partial<AgentOptions> & { timeouts: Timeouts }) {
  const clock = fakeClock();
  const agent = new Agent({ model: scriptedModel([hangs({ deaf: true })]), clock, ...options });
  return { agent, clock };
}

describe('timeouts.runMs', () => {
  test('ends a run at the limit with a RunTimeoutError that has the messages', async () => {
    const { agent, clock } = arrange({
      model: scriptedModel([calls('echo', { text: 'x' }), hangs()]),
      tools: [echo],
      timeouts: { runMs: 1_000 },
    });
    const running = rejectionOf(agent.run('go'));
    await pause(2);
    clock.advance(999);
    await pause(2);
    expect(agent.status().runs).toBe(1);

    clock.advance(1);
    const error = (await running) as RunError;

    expect(error).toMatchObject({ code: 'ERR_RUN_TIMEOUT', timeoutMs: 1_000, usage: { totalTokens: 15 } });
    expect(transcript(error.messages).at(-1)).toBe('tool: call_1=x');
  });

  test('gives running calls error results and calls onError', async () => {
    const seen: unknown[] = [];
    const { agent, clock } = arrange({
      model: scriptedModel([calls('wait')]),
      tools: [toolOf('wait', never)],
      lifecycle: [{ onError: (error) => void seen.push(error) }],
      timeouts: { runMs: 10 },
    });
    const running = rejectionOf(agent.run('go'));
    await pause(2);

    clock.advance(10);
    const error = (await running) as RunError;

    expect(resultsIn(error.messages).call_1).toMatch(/^!The call was aborted\. The run took longer than 10 ms/);
    expect(seen).toEqual([error]);
  });

  test('includes the time in which a run waits in the queue of its session', async () => {
    const clock = fakeClock();
    const agent = new Agent({
      model: scriptedModel([delays(50, 'first'), delays(50, 'second'), 'third'], { clock }),
      clock,
      timeouts: { runMs: 60 },
    });
    const session = await agent.session();
    const first = session.run('a');
    const second = rejectionOf(session.run('b'));
    await until(() => clock.delays.includes(50));

    clock.advance(50);
    expect((await first).text).toBe('first');
    await until(() => clock.delays.filter((ms) => ms === 50).length === 2);
    clock.advance(10);

    expect(await second).toMatchObject({ code: 'ERR_RUN_TIMEOUT', timeoutMs: 60, messages: [{ content: 'b' }] });
    expect((await session.run('c')).text).toBe('third');
    expect(clock.pending()).toBe(0);
  });

  test.each(['run', 'stream'] as const)(
    'ends a %s that is still in the queue, and calls no hook of it',
    async (way) => {
      const clock = fakeClock();
      const inputs: unknown[] = [];
      const agent = new Agent({
        model: scriptedModel([delays(100, 'first')], { clock }),
        clock,
        lifecycle: [{ beforeAgent: (input) => void inputs.push(input) }],
      });
      const session = await agent.session();
      const first = session.run('a');
      await until(() => inputs.length === 1);
      const timeouts = { runMs: 60 };
      const second = rejectionOf(
        way === 'run' ? session.run('b', { timeouts }) : session.stream('b', { timeouts }).result,
      );
      await until(() => clock.delays.includes(60));

      clock.advance(60);
      expect(await within(second)).toMatchObject({ code: 'ERR_RUN_TIMEOUT', timeoutMs: 60 });
      clock.advance(40);

      expect((await first).text).toBe('first');
      expect(inputs).toEqual(['a']);
      await until(() => clock.pending() === 0);
    },
  );

  test.each<[string, Partial<AgentOptions>]>([
    ['a loader', { loaders: [{ name: 'slow', load: never }] }],
    ['an onInit hook', { lifecycle: [{ onInit: never }] }],
    ['an onSessionStart hook', { lifecycle: [{ onSessionStart: never }] }],
  ])('limits agent.session() that waits for %s', async (_what, options) => {
    const { agent, clock } = arrange({ ...options, timeouts: { runMs: 1_000 } });
    const opening = rejectionOf(agent.session());
    await pause(2);
    clock.advance(1_000);

    expect(await opening).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 1_000 });
  });

  test('closes a session that opens after the limit', async () => {
    const slow = gate();
    const ended: string[] = [];
    const { agent, clock } = arrange({
      lifecycle: [{ onSessionStart: slow.pass, onSessionEnd: ({ id }) => void ended.push(id) }],
      timeouts: { runMs: 1_000 },
    });
    const opening = rejectionOf(agent.session({ id: 'ada' }));
    await until(() => slow.arrived === 1);
    clock.advance(1_000);
    await opening;
    slow.open();
    await until(() => ended.length > 0);

    expect([ended, agent.status().sessions]).toEqual([['ada'], 0]);
  });

  test('includes the claim of the session', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel([]), clock, store, timeouts: { runMs: 60 } });
    const session = await agent.session();
    store.claim = never as never;
    const running = rejectionOf(session.run('a'));
    await pause(2);
    clock.advance(60);

    expect(await within(running)).toMatchObject({ code: 'ERR_RUN_TIMEOUT' });
  });

  test.each<[string, Partial<AgentOptions>]>([
    ['a loader', { loaders: [{ name: 'stuck', load: never }] }],
    ['an onInit hook', { lifecycle: [{ onInit: never }] }],
  ])('includes the time of %s', async (_title, options) => {
    const clock = fakeClock();
    const agent = new Agent({ model: scriptedModel([]), clock, timeouts: { runMs: 60 }, ...options });
    const all = [
      rejectionOf(agent.run('a')),
      rejectionOf(agent.stream('b').result),
      rejectionOf(agent.run('c', { timeouts: { runMs: 70 } })),
    ];
    await pause(2);
    clock.advance(60);

    expect(await within(Promise.all(all.slice(0, 2)))).toMatchObject(
      Array.from({ length: 2 }, () => ({ code: 'ERR_RUN_TIMEOUT', timeoutMs: 60 })),
    );
    clock.advance(10);
    expect(await within(all[2] as Promise<unknown>)).toMatchObject({ timeoutMs: 70 });
  });

  test('continues in the run after the agent has been loaded', async () => {
    const clock = fakeClock();
    const slow = gate();
    const agent = new Agent({
      model: scriptedModel([hangs()]),
      clock,
      lifecycle: [{ onInit: slow.pass }],
      timeouts: { runMs: 60 },
    });
    const running = rejectionOf(agent.run('a'));
    await until(() => slow.arrived === 1);
    clock.advance(50);
    slow.open();
    await until(() => agent.status().runs === 1);
    clock.advance(10);

    expect(await within(running)).toMatchObject({ code: 'ERR_RUN_TIMEOUT', messages: [{ content: 'a' }] });
  });

  test.each(['runMs', 'queueMs'] as const)('refuses an invalid `%s` of a session run before it waits', async (name) => {
    const agent = new Agent({ model: scriptedModel([]), clock: fakeClock() });
    const session = await agent.session();

    expect(await rejectionOf(session.run('a', { timeouts: { [name]: '5s' } as never }))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      option: `timeouts.${name}`,
    });
  });
});

describe('timeouts.modelMs', () => {
  test('ends a model call with a ModelError that may be retried', async () => {
    const { agent, clock } = arrange({ timeouts: { modelMs: 100 } });
    const running = rejectionOf(agent.run('go'));
    await until(() => clock.pending() > 0);
    clock.advance(100);

    expect(await running).toMatchObject({
      code: 'ERR_MODEL_FAILED',
      retryable: true,
      cause: { code: 'ERR_TIMEOUT', what: 'model call', timeoutMs: 100 },
    });
  });

  test('applies to each call separately, and a hook may call again', async () => {
    const clock = fakeClock();
    const model = scriptedModel([hangs(), delays(90, 'done')], { clock });
    const agent = new Agent({
      model,
      clock,
      timeouts: { modelMs: 100 },
      lifecycle: [{ wrapModelCall: (_request, next) => next().catch(() => next()) }],
    });

    const running = agent.run('go');
    await until(() => clock.pending() === 1);
    clock.advance(100);
    await until(() => model.requests.length === 2 && clock.pending() === 2);
    clock.advance(90);

    expect((await running).text).toBe('done');
    expect(model.requests[0]?.signal?.aborted).toBe(true);
    expect(model.requests[1]?.signal?.aborted).toBe(false);
  });

  test('does not count the time of a hook', async () => {
    const clock = fakeClock();
    const agent = new Agent({
      model: scriptedModel(['done']),
      clock,
      timeouts: { modelMs: 100 },
      lifecycle: [
        {
          async wrapModelCall(_request, next) {
            clock.advance(500);
            return next();
          },
        },
      ],
    });

    expect((await agent.run('go')).text).toBe('done');
  });
});

describe('timeouts.firstPartMs', () => {
  test('is met by a model that streams only a tool call', async () => {
    const clock = fakeClock();
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const model: Model = {
      id: 'calls',
      generate({ onPart }) {
        onPart?.({ type: 'tool-input-delta', id: 'c1', name: 'add', text: '{"a' });
        clock.advance(500);
        return Promise.resolve({ content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage });
      },
    };
    const agent = new Agent({ model, clock, timeouts: { firstPartMs: 100 } });
    const deltas: string[] = [];

    for await (const event of agent.stream('go')) if (event.type.endsWith('delta')) deltas.push(event.type);

    expect(deltas).toEqual(['tool-input-delta', 'text-delta']);
  });

  test.each<Timeouts>([{ firstPartMs: 100 }, { firstPartMs: 100, modelMs: 1_000 }])(
    'ends a model call without a part in time, also without a listener: %j',
    async (timeouts) => {
      const { agent, clock } = arrange({ timeouts });
      const running = rejectionOf(agent.run('go'));
      await until(() => clock.pending() > 0);
      clock.advance(100);

      expect(await running).toMatchObject({
        code: 'ERR_MODEL_FAILED',
        retryable: true,
        cause: { code: 'ERR_TIMEOUT', what: "model call's first part", timeoutMs: 100 },
      });
    },
  );

  test.each(['run', 'stream'] as const)('ends with the first part: %s', async (way) => {
    const clock = fakeClock();
    const model = scriptedModel([streams(['He'], delays(500, 'Hello'))], { clock });
    const agent = new Agent({ model, clock, timeouts: { firstPartMs: 100, modelMs: 1_000 } });

    const running = way === 'run' ? agent.run('go') : agent.stream('go').result;
    await until(() => clock.delays.includes(500));
    clock.advance(500);

    expect((await running).text).toBe('Hello');
  });
});

describe('timeouts.toolMs', () => {
  const slow = toolOf('slow', never);

  test('gives a slow call an error result, and the run continues', async () => {
    const { agent, clock } = arrange({
      model: scriptedModel([calls({ name: 'slow' }, { name: 'echo', input: { text: 'x' } }), 'done']),
      tools: [slow, echo],
      timeouts: { toolMs: 100 },
    });
    const running = agent.run('go');
    await until(() => clock.pending() === 1);
    clock.advance(100);

    const { text, messages } = await running;
    expect(text).toBe('done');
    expect(resultsIn(messages)).toEqual({ call_1: '!The tool "slow" took longer than 100 ms.', call_2: 'x' });
  });

  test('is overridden by the `timeoutMs` of the tool', async () => {
    const { agent, clock } = arrange({
      model: scriptedModel([calls('slow'), 'done']),
      tools: [{ ...slow, timeoutMs: 7 }],
      timeouts: { toolMs: 100 },
    });
    const running = agent.run('go');
    await until(() => clock.pending() === 1);
    clock.advance(7);

    expect(resultsIn((await running).messages)).toEqual({ call_1: '!The tool "slow" took longer than 7 ms.' });
  });

  test.each(['before', 'after'])(
    'aborts the signal of the call, if the signal is read %s the timeout',
    async (when) => {
      const signals: AbortSignal[] = [];
      let read = () => {};
      const { agent, clock } = arrange({
        model: scriptedModel([calls('slow'), 'done']),
        tools: [
          toolOf('slow', (_input, context) => {
            read = () => void signals.push(context.signal);
            if (when === 'before') read();
            return never();
          }),
        ],
        timeouts: { toolMs: 100 },
      });
      const running = agent.run('go');
      await until(() => clock.pending() === 1);
      clock.advance(100);
      await running;
      if (when === 'after') read();

      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    },
  );

  test('does not abort the signal of a call that finished in time', async () => {
    const signals: AbortSignal[] = [];
    const { agent, clock } = arrange({
      model: scriptedModel([calls('quick'), 'done']),
      tools: [
        toolOf('quick', async (_input, { signal }) => {
          signals.push(signal);
          return 'ok';
        }),
      ],
      timeouts: { toolMs: 100 },
    });

    const { messages } = await agent.run('go');
    clock.advance(1_000);

    expect(resultsIn(messages)).toEqual({ call_1: 'ok' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

test('the time limit of a tool includes an asynchronous check, and a late check does not start the tool', async () => {
  const clock = fakeClock();
  const ran: unknown[] = [];
  let finish!: (value: { value: unknown }) => void;
  const slow: Tool = {
    ...toolOf('slow', (input) => void ran.push(input)),
    check: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  };
  const agent = new Agent({
    model: scriptedModel([calls('slow'), 'done']),
    tools: [slow],
    clock,
    timeouts: { toolMs: 100 },
  });

  const running = agent.run('go');
  await pause(1);
  clock.advance(100);
  const { messages } = await running;
  finish({ value: {} });
  await pause(1);

  expect(Object.values(resultsIn(messages))).toEqual([expect.stringContaining('100 ms')]);
  expect(ran).toEqual([]);
});
