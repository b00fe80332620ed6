import { Agent, type AgentEvent, type AgentLifecycle, type Clock, ModelError } from 'keelson';
import { fallbackModels, type RetryOptions, retryModelCalls } from 'keelson/lifecycles';
import { fails, hangs, type ScriptEntry, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock, fastClock } from '../support/agent/fake-clock.js';
import { rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const failing = (message: string, hints: object) => fails(Object.assign(new Error(message), hints));
const busy = (retryAfterMs?: number) => failing('busy', { status: 503, retryAfterMs });
const gone = failing('no such model', { status: 404 });

function agentOf(script: readonly ScriptEntry[] | ScriptEntry, options?: RetryOptions, clock: Clock = fastClock()) {
  const model = scriptedModel(script);
  const logger = keepingLogger();
  return { model, logger, agent: new Agent({ model, logger, clock, lifecycle: [retryModelCalls(options)] }) };
}

describe('retryModelCalls', () => {
  test('repeats a call after a temporary failure, in the same turn', async () => {
    const { agent, model, logger } = agentOf([busy(), busy(), 'At last.'], { random: () => 1 });

    const { text, turns } = await agent.run('Hello');

    expect({ text, turns }).toEqual({ text: 'At last.', turns: 1 });
    expect(logger.lines).toEqual([
      'warn: Attempt 2 follows in 500 ms: Model "scripted" failed: busy',
      'warn: Attempt 3 follows in 1000 ms: Model "scripted" failed: busy',
    ]);
    expect(model.requests[2]?.messages).toEqual(model.requests[0]?.messages);
  });

  test('rethrows the ModelError of the last attempt, and a permanent failure at once', async () => {
    const often = agentOf([busy(), busy(), busy(), 'never'], {});
    expect(await rejectionOf(often.agent.run('Hello'))).toMatchObject({ code: 'ERR_MODEL_FAILED', status: 503 });
    expect(often.model.requests).toHaveLength(3);

    const once = agentOf([gone, 'never']);
    expect(await rejectionOf(once.agent.run('Hello'))).toMatchObject({ code: 'ERR_MODEL_FAILED', status: 404 });
    expect(once.model.requests).toHaveLength(1);
    const none = agentOf([busy(), 'never'], { maxRetries: 0 });
    expect(await rejectionOf(none.agent.run('Hello'))).toBeInstanceOf(ModelError);
  });

  test('doubles the delay each time up to the maximum, and reduces it by up to half', async () => {
    const waits = async (random: number) => {
      const { agent, logger } = agentOf([...Array.from({ length: 4 }, () => busy()), 'At last.'], {
        ...{ maxRetries: 4, initialDelayMs: 100, maxDelayMs: 300 },
        random: () => random,
      });
      await agent.run('Hello');
      return logger.lines.map((line) => Number(/in (\d+) ms:/.exec(line)?.[1]));
    };

    expect(await waits(1)).toEqual([100, 200, 300, 300]);
    expect(await waits(0)).toEqual([50, 100, 150, 150]);
  });

  test('ignores an invalid delay of the provider', async () => {
    const { agent, logger } = agentOf([busy(-1), busy(Number.NaN), 'At last.'], { random: () => 1 });

    await agent.run('Hello');

    expect(logger.lines).toEqual([expect.stringMatching(/in 500 ms:/), expect.stringMatching(/in 1000 ms:/)]);
  });

  test('waits as long as the provider asked, unless that exceeds the maximum delay', async () => {
    const { agent, logger } = agentOf([busy(1_234), busy(0), 'At last.']);
    await agent.run('Hello');
    expect(logger.lines).toEqual([expect.stringMatching(/in 1234 ms:/), expect.stringMatching(/in 0 ms:/)]);

    const impatient = agentOf([busy(1_001), 'never'], { maxDelayMs: 1_000 });
    expect(await rejectionOf(impatient.agent.run('Hello'))).toMatchObject({ retryAfterMs: 1_001 });
  });

  test('`retryOn` replaces the default rule', async () => {
    const { agent } = agentOf([gone, 'At last.'], { retryOn: ({ status }) => status === 404 });
    expect((await agent.run('Hello')).text).toBe('At last.');

    const never = agentOf([busy(), 'never'], { retryOn: () => false });
    await expect(never.agent.run('Hello')).rejects.toBeInstanceOf(ModelError);
  });

  test('an abort ends the wait, and no timer is left', async () => {
    const clock = fakeClock();
    const { agent } = agentOf([busy(), 'never'], {}, clock);
    const abort = new AbortController();

    const running = rejectionOf(agent.run('Hello', { signal: abort.signal }));
    await until(() => clock.pending() === 1);
    abort.abort('enough');

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(clock.pending()).toBe(0);
  });

  test('closing the agent ends the wait as well', async () => {
    const clock = fakeClock();
    const { agent } = agentOf([busy(), 'never'], { initialDelayMs: 1_000 }, clock);

    const running = rejectionOf(agent.run('Hello'));
    await until(() => clock.pending() === 1);
    const closing = agent.close();

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    // The closing agent is waiting too, because it checks for its runs every 5 ms.
    clock.advance(5);
    await closing;
    expect(clock.pending()).toBe(0);
  });

  test('a signal that a hook set on the request ends the wait too, with the error of the model call', async () => {
    const clock = fakeClock();
    const { agent } = agentOf([busy(), 'never'], {}, clock);
    const own = new AbortController();
    agent.use({ wrapModelCall: (request, next) => next({ ...request, signal: own.signal }) });

    const running = rejectionOf(agent.run('Hello'));
    await until(() => clock.pending() === 1);
    own.abort();

    expect(await running).toMatchObject({ code: 'ERR_MODEL_FAILED', status: 503 });
    expect(clock.pending()).toBe(0);
  });

  test('a stream has the text of a failed attempt, its deltas have the attempt, and the result has the last text', async () => {
    const { agent } = agentOf([streams(['Half an an'], busy()), says('A whole one.')]);
    const stream = agent.stream('Hello');
    const deltas: [number, string][] = [];
    for await (const event of stream as AsyncIterable<AgentEvent>) {
      if (event.type === 'text-delta') deltas.push([event.attempt, event.text]);
    }

    expect(deltas[0]).toEqual([1, 'Half an an']);
    expect(deltas.slice(1).every(([attempt]) => attempt === 2)).toBe(true);
    expect((await stream.result).text).toBe('A whole one.');
  });

  test('retries a model call that timed out', async () => {
    const model = scriptedModel([hangs(), 'At last.']);
    const lifecycle = [retryModelCalls({ initialDelayMs: 1 })];
    const agent = new Agent({ model, lifecycle, timeouts: { modelMs: 5 }, logger: keepingLogger() });
    expect((await agent.run('Hello')).text).toBe('At last.');
  });
});

test('an error of an inner hook is not retried and does not change the model', async () => {
  let asked = 0;
  const broken: AgentLifecycle = {
    priority: 1,
    wrapModelCall() {
      asked += 1;
      throw new TypeError('boom');
    },
  };
  for (const part of [retryModelCalls(), fallbackModels([scriptedModel('never')])]) {
    asked = 0;
    const agent = new Agent({ model: scriptedModel('never'), lifecycle: [part, broken], logger: keepingLogger() });
    expect(await rejectionOf(agent.run('Hello'))).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED' });
    expect(asked).toBe(1);
  }
});

describe('fallbackModels', () => {
  const named = (id: string, ...script: readonly ScriptEntry[]) => scriptedModel(script, { id });

  test('calls the next model after a failure, and the first model again in the next turn', async () => {
    const first = named('first', gone, 'From the first.');
    const second = named('second', gone);
    const third = named('third', 'From the third.');
    const logger = keepingLogger();
    const agent = new Agent({ model: first, logger, lifecycle: [fallbackModels([second, third])] });

    expect((await agent.run('Hello')).text).toBe('From the third.');
    expect((await agent.run('Hello')).text).toBe('From the first.');
    expect(logger.lines).toEqual([
      'warn: Model "first" failed: no such model; calling model "second" instead',
      'warn: Model "second" failed: no such model; calling model "third" instead',
    ]);
  });

  test('fails with the error of the last model, which names it', async () => {
    const agent = new Agent({
      model: named('first', gone),
      lifecycle: [fallbackModels([named('second', gone)])],
      logger: keepingLogger(),
    });
    await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED', model: 'second' });
  });

  test('is outermost of retries with every order of registration, so that each model gets its retries', async () => {
    for (const order of [1, -1]) {
      const first = named('first', busy(), busy(), busy());
      const second = named('second', busy(), 'From the second.');
      const lifecycle = [retryModelCalls(), fallbackModels([second])];
      const agent = new Agent({
        model: first,
        lifecycle: order === 1 ? lifecycle : lifecycle.reverse(),
        clock: fastClock(),
        logger: keepingLogger(),
      });

      expect((await agent.run('Hello')).text).toBe('From the second.');
      expect([first.requests.length, second.requests.length]).toEqual([3, 2]);
    }
  });

  test('calls no other model after an abort', async () => {
    const second = named('second', 'never');
    const agent = new Agent({ model: named('first', hangs()), lifecycle: [fallbackModels([second])] });
    const abort = new AbortController();
    const running = rejectionOf(agent.run('Hello', { signal: abort.signal }));
    setTimeout(() => abort.abort(), 1);

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(second.requests).toEqual([]);
  });
});
