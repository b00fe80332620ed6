import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  HookAction,
  type Model,
  type ModelCallNext,
  type ModelResponse,
} from 'keelson';
import { retryModelCalls } from 'keelson/lifecycles';
import { calls, delays, fails, hangs, type ScriptEntry, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { fastClock } from '../../../support/agent/fake-clock.js';
import { toolOf } from '../../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf } from '../../../support/agent/settle.js';
import { keepingLogger } from '../../../support/agent/silent-logger.js';
import { transcript } from '../../../support/agent/transcript.js';

const overloaded = Object.assign(new Error('overloaded'), { status: 503 });

/** The time of models, tools and hooks. It advances as soon as nothing else is left to do. */
const clock = fastClock();
const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));

/** Starts a second model call after 10 ms, and returns the first answer of the two. */
const hedge: AgentLifecycle = {
  name: 'hedge',
  priority: 90,
  wrapModelCall: (request, next) => Promise.any([next(request), sleep(10).then(() => next(request))]),
};

function agentOf(script: readonly ScriptEntry[], lifecycle: readonly AgentLifecycle[]) {
  const model = scriptedModel(script, { clock });
  const tool = toolOf('work', () => sleep(60).then(() => 'worked'));
  return { model, agent: new Agent({ model, lifecycle, clock, tools: [tool], logger: keepingLogger() }) };
}

/** Returns the text that a consumer shows that clears the text when `attempt` changes. */
async function shownBy(agent: Agent) {
  const stream = agent.stream('Hello');
  let shown = { attempt: 0, text: '' };
  for await (const event of stream as AsyncIterable<AgentEvent>) {
    if (event.type !== 'text-delta') continue;
    const { attempt, text } = event;
    shown = attempt === shown.attempt ? { attempt, text: shown.text + text } : { attempt, text };
  }
  return { shown: shown.text, text: (await stream.result).text };
}

describe('a model call that was left behind', () => {
  it('is not retried after another call has answered', async () => {
    const { model, agent } = agentOf(
      [fails(overloaded), calls('work'), 'done'],
      [hedge, retryModelCalls({ initialDelayMs: 80, random: () => 1 })],
    );

    const { text, history } = await agent.run('Hello');
    await sleep(60);

    expect(text).toBe('done');
    expect(model.requests).toHaveLength(3);
    expect(transcript(history)).toEqual([
      'user: Hello',
      'assistant: call call_1 work',
      'tool: call_1=worked',
      'assistant: done',
    ]);
    expect(model.requests[2]?.messages).toHaveLength(3);
  });

  it('cannot call `next` again, and the rejection names its lifecycle', async () => {
    let late: Promise<unknown> | undefined;
    const closed = gate();
    const inner: AgentLifecycle = {
      name: 'inner',
      wrapModelCall: async (_request, next) => {
        late = rejectionOf(closed.pass().then(() => next()));
        return next().finally(() => closed.pass());
      },
    };
    const outer: AgentLifecycle = {
      priority: 90,
      wrapModelCall: (request, next) => Promise.race([next(request), answerAfter(5)]),
      afterModel: () => closed.open(),
    };
    const { model, agent } = agentOf(['first', 'second'], [outer, inner]);

    const { text } = await agent.run('Hello');

    expect(text).toBe('own');
    expect(await late).toMatchObject({ code: 'ERR_NEXT_EXPIRED', message: expect.stringContaining('"inner"') });
    expect(model.requests).toHaveLength(1);
  });

  it('gets an abort by the signal of its request', async () => {
    const seen: (AbortSignal | undefined)[] = [];
    const watching =
      (entry: ScriptEntry): ScriptEntry =>
      (request) => {
        seen.push(request.signal);
        return entry;
      };
    const { agent } = agentOf([watching(hangs()), watching(delays(5, 'fast'))], [hedge]);

    expect((await agent.run('Hello')).text).toBe('fast');
    await pause();

    expect(seen.map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it.each([
    ['in any run, if a hook copies the request', undefined],
    ['in a run that can be aborted, if the model copies the request', new AbortController().signal],
  ])('is aborted %s', async (_, signal) => {
    const seen: (AbortSignal | undefined)[] = [];
    const copying: AgentLifecycle = { wrapModelCall: (request, next) => next({ ...request, tools: [] }) };
    const inner = scriptedModel([hangs(), delays(5, 'fast')], { clock });
    const model: Model = {
      id: 'outer',
      generate(request) {
        const passed = signal === undefined ? request : { ...request };
        seen.push(passed.signal);
        return inner.generate(passed);
      },
    };
    const lifecycle = signal === undefined ? [hedge, copying] : [hedge];

    expect((await new Agent({ model, lifecycle, clock }).run('Hello', { signal })).text).toBe('fast');
    await pause();

    expect(seen.map((each) => each?.aborted)).toEqual([true, true]);
  });

  it('aborts no signal if every call and hook has settled', async () => {
    let signal: AbortSignal | undefined;
    const { agent } = agentOf(
      [
        (request) => {
          signal = request.signal;
          return 'done';
        },
      ],
      [{ wrapModelCall: async (_request, next) => next() }],
    );

    await agent.run('Hello');

    expect(signal?.aborted).toBe(false);
  });

  it('aborts no signal if a hook has awaited all of its model calls', async () => {
    const twice: AgentLifecycle = {
      wrapModelCall: async (_request, next) => {
        await pause();
        await next();
        return await next();
      },
    };
    const { model, agent } = agentOf(['first', 'second'], [twice]);

    expect((await agent.run('Hello')).text).toBe('second');
    expect(model.requests.map(({ signal }) => signal?.aborted)).toEqual([false, false]);
  });

  it('still runs under the time limit and the signal of a hook', async () => {
    let signal: AbortSignal | undefined;
    const stop = new AbortController();
    const own: AgentLifecycle = {
      wrapModelCall: (request, next) => next({ ...request, signal: stop.signal }),
    };
    const { agent } = agentOf(
      [
        (request) => {
          signal = request.signal;
          return hangs();
        },
        'fast',
      ],
      [hedge, own],
    );

    expect((await agent.run('Hello')).text).toBe('fast');
    await pause();

    expect(signal?.aborted).toBe(true);
  });

  it.each(['block', 'throw', 'continue'] as const)(
    'has no effect on the run if its hook fails late with `onFailure: %s`',
    async (onFailure) => {
      const failing: AgentLifecycle = {
        ...{ name: 'failing', onFailure },
        wrapModelCall: async (_request, next) => {
          await next();
          await sleep(20);
          throw new TypeError('late');
        },
      };
      const outer: AgentLifecycle = {
        priority: 90,
        wrapModelCall: (request, next) =>
          request.run.turn === 1 ? Promise.race([next(request), callAfter(5)]) : answerAfter(0),
      };
      const { agent } = agentOf(['first'], [outer, failing]);

      const { text, decisions } = await agent.run('Hello');

      expect(text).toBe('own');
      expect(decisions.filter(({ by }) => by === 'failing')).toEqual([]);
    },
  );

  it('records no decision for a response that it changes late', async () => {
    const changing: AgentLifecycle = {
      name: 'changing',
      wrapModelCall: async (_request, next) => {
        const response = await next();
        await sleep(20);
        return { ...response };
      },
    };
    const outer: AgentLifecycle = {
      priority: 90,
      wrapModelCall: (request, next) => (request.run.turn === 1 ? race(next) : answerAfter(0)),
    };
    const { agent } = agentOf(['first'], [outer, changing]);

    const { decisions } = await agent.run('Hello');

    expect(decisions.filter(({ by }) => by === 'changing')).toEqual([]);
  });
});

describe('a stream of two model calls at once', () => {
  it('shows the text of the first call if it wins', async () => {
    const { agent } = agentOf([delays(30, 'slow winner'), streams(['fast '], hangs())], [hedge]);

    expect(await shownBy(agent)).toEqual({ shown: 'slow winner', text: 'slow winner' });
  });

  it('shows the text of the second call if it wins', async () => {
    const { agent } = agentOf([streams(['first '], hangs()), says('second')], [hedge]);

    expect(await shownBy(agent)).toEqual({ shown: 'second', text: 'second' });
  });

  it('clears the text of the other call if the winner only calls tools', async () => {
    const { agent } = agentOf(
      [delays(30, calls('work')), streams(['lost '], hangs()), says(''), says('')],
      [{ ...hedge, wrapModelCall: (request, next) => (request.run.turn === 1 ? hedged(next) : next()) }],
    );

    expect(await shownBy(agent)).toEqual({ shown: '', text: '' });
  });

  it('shows the returned answer of a hook that calls the model twice', async () => {
    const twice: AgentLifecycle = {
      wrapModelCall: async (_request, next) => {
        const first = await next();
        await next();
        return first;
      },
    };
    const { agent } = agentOf(['one', 'two'], [twice]);

    expect(await shownBy(agent)).toEqual({ shown: 'one', text: 'one' });
  });
});

it('ends the wait of a run with a wrap when `run.end` was called during a model call', async () => {
  const ending: AgentLifecycle = {
    wrapModelCall: (request, next) => {
      request.run.end(HookAction.respond('early'));
      return next();
    },
  };
  const { agent } = agentOf(['late'], [ending]);

  expect((await agent.run('Hello')).text).toBe('early');
});

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

async function answerAfter(ms: number): Promise<ModelResponse> {
  await sleep(ms);
  return { content: [{ type: 'text', text: 'own' }], finishReason: 'stop', usage };
}

async function callAfter(ms: number): Promise<ModelResponse> {
  await sleep(ms);
  return {
    content: [{ type: 'tool-call', id: 'call_1', name: 'work', input: {} }],
    ...{ finishReason: 'tool-calls', usage },
  };
}

function race(next: ModelCallNext) {
  return Promise.race([next(), callAfter(5)]);
}

function hedged(next: ModelCallNext) {
  return Promise.any([next(), sleep(10).then(() => next())]);
}
