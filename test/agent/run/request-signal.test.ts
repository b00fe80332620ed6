import { getEventListeners } from 'node:events';
import { Agent, type AgentLifecycle, type RunContext, type RunOptions } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { rejectionOf, until } from '../../support/agent/settle.js';

test.each<[string, boolean, (run: RunContext) => object]>([
  ['set its own signal in the request', true, () => ({ signal: new AbortController().signal })],
  ['removed the signal from the request', true, () => ({ signal: undefined })],
  [
    'was the first to read the signal of the run',
    false,
    ({ signal }) => ({ settings: { seed: Number(signal.aborted) } }),
  ],
])('an abort reaches the model if a wrap hook %s', async (_title, withSignal, change) => {
  const controller = new AbortController();
  const model = scriptedModel(() => new Promise(() => {}));
  const wrap: AgentLifecycle = { wrapModelCall: (request, next) => next({ ...request, ...change(request.run) }) };
  const agent = new Agent({ model, lifecycle: [wrap] });

  const running = rejectionOf(agent.run('go', withSignal ? { signal: controller.signal } : {}));
  await until(() => model.requests.length === 1);
  const before = model.requests[0]?.signal?.aborted;
  controller.abort();
  await agent.close();

  expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect([before, model.requests[0]?.signal?.aborted]).toEqual([false, true]);
});

test.each<[string, RunOptions]>([
  ['cannot be aborted', {}],
  ['can be aborted', { signal: new AbortController().signal }],
])(
  'an abort of the request signal of a wrap hook ends only that model call, in a run that %s',
  async (_title, options) => {
    const mine = new AbortController();
    const agent = new Agent({
      model: scriptedModel([() => new Promise(() => {}), 'second']),
      lifecycle: [
        {
          wrapModelCall(request, next) {
            setTimeout(() => mine.abort('too slow'), 1);
            return next({ ...request, signal: mine.signal }).catch(() => next());
          },
        },
      ],
    });

    expect((await agent.run('go', options)).text).toBe('second');
    expect(getEventListeners(mine.signal, 'abort')).toEqual([]);
  },
);

test.each<[string, unknown, string]>([
  ['is already aborted is not made', AbortSignal.abort('too late'), 'Model "scripted" failed: too late'],
  ['is null is made', null, 'answer'],
])('a model call with a signal of a wrap hook that %s', async (_title, signal, outcome) => {
  const model = scriptedModel('answer');
  const wrap: AgentLifecycle = {
    wrapModelCall: (request, next) => next({ ...request, signal: signal as AbortSignal | undefined }),
  };

  const said = await new Agent({ model, lifecycle: [wrap] }).run('go').then(
    ({ text }) => text,
    ({ message }) => message,
  );

  expect(said).toBe(outcome);
  expect(model.requests).toHaveLength(outcome === 'answer' ? 1 : 0);
});
