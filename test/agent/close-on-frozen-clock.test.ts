import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  HookAction,
  type Logger,
  MemorySessionStore,
  type Model,
} from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test, vi } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { gate, rejectionOf, within } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { manualClock, settled } from '../support/lifecycle/manual-clock.js';

const never = () => new Promise<never>(() => {});

function agentOn(clock: AgentOptions['clock'], more: Partial<AgentOptions> = {}): Agent {
  const tools = [toolOf('wait', never)];
  return new Agent({ model: scriptedModel([calls('wait')]), tools, clock, logger: keepingLogger(), ...more });
}

test.each(['run', 'session'] as const)('close() needs no timer if a %s ends on its abort signal', async (kind) => {
  const clock = fakeClock();
  const agent = agentOn(clock);
  const session = kind === 'session' ? await agent.session() : undefined;
  const options = { signal: new AbortController().signal };
  const failed = rejectionOf(session === undefined ? agent.run('go', options) : session.run('go', options));
  await settled();

  expect(await within(agent.close())).toBeUndefined();
  expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(clock.pending()).toBe(0);
});

test('close() waits for the hooks of a session, and for loaders', async () => {
  const order: string[] = [];
  const hook = gate();
  const loader = gate();
  const agent = agentOn(fakeClock(), {
    lifecycle: [
      { onSessionEnd: () => hook.pass().then(() => void order.push('first')) },
      {
        onSessionEnd: () => settled().then(() => void order.push('second')),
        onShutdown: () => void order.push('shut'),
      },
    ],
  });
  const session = await agent.session();
  const loading = new Agent({
    model: scriptedModel([]),
    clock: fakeClock(),
    loaders: [{ name: 'slow', load: () => loader.pass(), close: () => void order.push('closed') }],
  });
  const ready = rejectionOf(loading.run('go'));
  const ended = session.close();
  await settled();
  const closing = Promise.all([agent.close(), loading.close()]);
  await settled();
  expect(order).toEqual([]);
  hook.open();
  loader.open();

  expect(await within(closing)).not.toBe('did not settle in time');
  expect(order.filter((entry) => entry !== 'closed')).toEqual(['first', 'second', 'shut']);
  expect(order).toContain('closed');
  expect(await ready).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
  await ended;
});

test('close() stops waiting after five seconds if the abort signal is ignored', async () => {
  const clock = manualClock();
  const agent = agentOn(clock, { model: { id: 'deaf', generate: never } });
  void agent.run('go').catch(() => {});
  const closed = vi.fn();
  const closing = agent.close().then(closed);

  await clock.advance(4_999);
  expect(closed).not.toHaveBeenCalled();
  await clock.advance(1);
  await closing;

  expect(clock.waiting).toBe(0);
});

test.each(['tool', 'hook'] as const)('an abort clears the timer of a %s that ignores the signal', async (kind) => {
  const clock = fakeClock();
  const controller = new AbortController();
  const deaf: AgentLifecycle = { timeoutMs: 600, beforeModel: never };
  const agent = agentOn(clock, { timeouts: { toolMs: 600 }, lifecycle: kind === 'hook' ? [deaf] : [] });
  const failed = rejectionOf(agent.run('go', { signal: controller.signal }));
  await settled();
  expect(clock.pending()).toBe(1);
  controller.abort();

  expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(clock.pending()).toBe(0);
});

test('the end of the tool calls of a turn clears the timer of a tool that ignores the signal', async () => {
  const clock = fakeClock();
  const model = scriptedModel([calls({ name: 'wait' }, { name: 'stop' })]);
  const tools = [toolOf('wait', never), toolOf('stop', () => 'ok')];
  const ending: AgentLifecycle = {
    wrapToolCall: async (call, next) => {
      if (call.name === 'stop') call.run.end(HookAction.respond('enough'));
      return next();
    },
  };
  const agent = agentOn(clock, { model, tools, timeouts: { toolMs: 600 }, lifecycle: [ending] });

  const result = await agent.run('go', { signal: new AbortController().signal });
  await settled();

  expect(result.text).toBe('enough');
  expect(clock.pending()).toBe(0);
});

test('close() works with patched timers that never fire', async () => {
  vi.useFakeTimers();
  try {
    const agent = agentOn(undefined, { timeouts: { runMs: 1_000, modelMs: 900, firstPartMs: 800, toolMs: 700 } });
    const stream = agent.stream('go');
    for await (const { type } of stream) if (type === 'tool-start') break;
    await agent.close();
    await rejectionOf(stream.result);

    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('close() does not wait for the promise of a logger', async () => {
  const logger: Logger = { debug: never, info: never, warn: never, error: never };
  const agent = agentOn(fakeClock(), { logger, lifecycle: [{ onShutdown: () => Promise.reject(new Error('no')) }] });
  await agent.ready();

  expect(await within(agent.close())).toBeUndefined();
});

test('an error of the logger does not replace the error of a run', async () => {
  const error = () => {
    throw new Error('the log is full');
  };
  const onError = vi.fn();
  const ended = vi.fn();
  const model = { id: 'm', generate: () => Promise.reject(new Error('down')) };
  const agent = agentOn(fakeClock(), {
    model,
    logger: { ...keepingLogger(), error },
    lifecycle: [{ onError: error }, { onError }],
  });
  agent.on('run-end', ended);

  expect(await rejectionOf(agent.run('go'))).toMatchObject({ code: 'ERR_MODEL_FAILED' });
  expect(onError).toHaveBeenCalledTimes(1);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(agent.status().runs).toBe(0);
});

const fullLog = () => ({
  ...keepingLogger(),
  error: () => {
    throw new Error('the log is full');
  },
});

const fails = () => {
  throw new Error('broken');
};

test('an error of the logger does not stop close()', async () => {
  const closed: string[] = [];
  const agent = agentOn(fakeClock(), {
    model: scriptedModel('done'),
    logger: fullLog(),
    lifecycle: [{ onShutdown: () => void closed.push('part') }, { onSessionEnd: fails, onShutdown: fails }],
    loaders: [
      { name: 'first', load() {}, close: () => void closed.push('loader') },
      { name: 'second', load() {}, close: fails },
    ],
  });
  await (await agent.session()).run('go');

  expect(await within(agent.close())).toBeUndefined();
  expect(closed).toEqual(['part', 'loader']);
});

test('an error of the logger changes neither the error nor the events of a suspended run that fails', async () => {
  const onError = vi.fn();
  let appends = 0;
  const store = new MemorySessionStore();
  const append = store.append.bind(store);
  store.append = (...given) => (++appends > 2 ? fails() : append(...given));
  const agent = agentOn(fakeClock(), {
    model: scriptedModel(calls({ id: 'a', name: 'pay', input: {} })),
    tools: [toolOf('pay', () => 'paid')],
    logger: fullLog(),
    lifecycle: [{ wrapToolCall: () => HookAction.suspend('ask'), afterAgent: fails }, { onError }],
  });
  const session = await agent.session({ store });

  expect(await rejectionOf(session.run('go'))).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', point: 'afterAgent' });
  expect([appends > 2, onError.mock.calls.length, agent.status().runs]).toEqual([true, 1, 0]);
});

test('a clock that is set back does not extend the time limit of a wrap hook', async () => {
  const clock = fakeClock(100 * 86_400_000);
  let offset = 0;
  const scripted = scriptedModel(['done']);
  const model: Model = { id: 'slow', generate: (request) => settled().then(() => scripted.generate(request)) };
  const agent = agentOn(
    { ...clock, now: () => clock.now() + offset },
    {
      model,
      lifecycle: [
        {
          timeoutMs: 50,
          async wrapModelCall(_request, next) {
            await undefined;
            offset = -50 * 86_400_000;
            return next();
          },
        },
      ],
    },
  );
  await agent.run('go');

  expect(clock.delays).toEqual([50, 50]);
});

test('many tools with a timeout stop with their run, without a warning of Node about a listener leak', async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const warned = vi.fn();
  process.on('warning', warned);
  const model = scriptedModel([calls({ name: 'wait' }, ...Array.from({ length: 29 }, () => ({ name: 'wait' })))]);
  const failed = rejectionOf(
    agentOn(clock, { model, timeouts: { toolMs: 600 } }).run('go', { signal: controller.signal }),
  );
  await settled();
  expect(clock.pending()).toBe(30);
  controller.abort();
  await failed;
  await settled();
  process.off('warning', warned);

  expect(clock.pending()).toBe(0);
  expect(warned).not.toHaveBeenCalled();
});
