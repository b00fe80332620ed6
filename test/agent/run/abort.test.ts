import { getEventListeners } from 'node:events';
import {
  Agent,
  type AgentOptions,
  HookAction,
  type OutputSchema,
  RunAbortedError,
  type RunContext,
  type RunOptions,
  type StandardSchema,
} from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { pairingProblem } from '../../support/agent/pairing.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { LATE, pause, rejectionOf, unhandledDuring, until, within } from '../../support/agent/settle.js';

/** Waits for ever and ignores every signal. Rejects only when the test calls `fail`. */
interface Trap {
  readonly wait: () => Promise<never>;
  readonly arrived: () => boolean;
  readonly fail: () => void;
}

function trap(): Trap {
  const rejects: ((error: Error) => void)[] = [];
  return {
    wait: () => new Promise<never>((_, reject) => rejects.push(reject)),
    arrived: () => rejects.length > 0,
    fail: () => {
      for (const reject of rejects) reject(new Error('too late'));
    },
  };
}

interface Setup extends Partial<AgentOptions> {
  readonly output?: StandardSchema;
  readonly script?: readonly ScriptEntry[];
}
type Wait = Trap['wait'];

const toolRound = { tools: [echo], script: [calls('echo', { text: 'one' }), 'done'] };
const checkedBy = (validate: () => Promise<never>): StandardSchema => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

const places: Readonly<Record<string, (wait: Wait) => Setup>> = {
  beforeAgent: (wait) => ({ lifecycle: [{ beforeAgent: wait }] }),
  beforeModel: (wait) => ({ lifecycle: [{ beforeModel: wait }] }),
  beforeToolSelection: (wait) => ({ lifecycle: [{ beforeToolSelection: wait }] }),
  'wrapModelCall before next': (wait) => ({ lifecycle: [{ wrapModelCall: wait }] }),
  'wrapModelCall after next': (wait) => ({ lifecycle: [{ wrapModelCall: (_request, next) => next().then(wait) }] }),
  'the model': (wait) => ({ model: { id: 'deaf', generate: wait } }),
  'the model inside a wrap hook': (wait) => ({
    model: { id: 'deaf', generate: wait },
    lifecycle: [{ wrapModelCall: (request, next) => next(request) }],
  }),
  'the model with a timeout': (wait) => ({ model: { id: 'deaf', generate: wait }, timeouts: { modelMs: 60_000 } }),
  afterModel: (wait) => ({ lifecycle: [{ afterModel: wait }] }),
  'wrapToolCall before next': (wait) => ({ ...toolRound, lifecycle: [{ wrapToolCall: wait }] }),
  'wrapToolCall after next': (wait) => ({
    ...toolRound,
    lifecycle: [{ wrapToolCall: (_call, next) => next().then(wait) }],
  }),
  'a tool': (wait) => ({ ...toolRound, tools: [toolOf('echo', wait)] }),
  'a tool inside a wrap hook': (wait) => ({
    ...toolRound,
    tools: [toolOf('echo', wait)],
    lifecycle: [{ wrapToolCall: (call, next) => next(call) }],
  }),
  'a tool with a timeout': (wait) => ({ ...toolRound, tools: [{ ...toolOf('echo', wait), timeoutMs: 60_000 }] }),
  'the check of arguments': (wait) => ({ ...toolRound, tools: [{ ...echo, check: wait }] }),
  'the check of the output': (wait) => ({ script: ['{}'], output: checkedBy(wait) }),
  afterAgent: (wait) => ({ lifecycle: [{ afterAgent: wait }] }),
};

const ways = ['run', 'stream', 'session'] as const;
const cases = Object.keys(places).flatMap((place) => ways.map((way) => [place, way] as const));

async function start(
  agent: Agent,
  way: (typeof ways)[number],
  options: RunOptions<unknown, OutputSchema>,
): Promise<unknown> {
  if (way === 'run') return agent.run('go', options);
  if (way === 'stream') return agent.stream('go', options).result;
  const session = await agent.session();
  return session.run('go', options);
}

describe('an abort', () => {
  test.each(cases)('ends a run that waits in %s (%s) at once, with the reason as its cause', async (place, way) => {
    const { wait, arrived, fail } = trap();
    const { output, script = ['done'], ...options } = (places[place] as (wait: Wait) => Setup)(wait);
    const agent = new Agent({ model: scriptedModel(script), ...options });
    const controller = new AbortController();
    const reason = new Error('enough');

    const unhandled = await unhandledDuring(async () => {
      const running = start(agent, way, { signal: controller.signal, output });
      running.catch(() => {});
      await until(arrived);
      controller.abort(reason);
      const error = (await rejectionOf(running)) as RunAbortedError;

      expect(error).toBeInstanceOf(RunAbortedError);
      expect(error.cause).toBe(reason);
      expect(pairingProblem(error.history)).toBe(undefined);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      expect(agent.status().runs).toBe(0);
      fail();
    });

    expect(unhandled).toEqual([]);
  });

  test('before the start calls no hook, model or tool, and events are still paired', async () => {
    const events: string[] = [];
    const called: string[] = [];
    const model = scriptedModel(['done']);
    const agent = new Agent({
      model,
      lifecycle: [{ beforeAgent: () => void called.push('beforeAgent'), onError: () => void called.push('onError') }],
    });
    for (const type of ['run-start', 'turn-start', 'run-error', 'run-end'] as const) {
      agent.on(type, (event) => void events.push(event.type));
    }
    const reason = { why: 'no object of class Error' };

    const error = (await rejectionOf(agent.run('go', { signal: AbortSignal.abort(reason) }))) as RunAbortedError;

    expect(error.code).toBe('ERR_RUN_ABORTED');
    expect(error.cause).toBe(reason);
    expect(error.messages).toEqual([]);
    expect([called, model.requests]).toEqual([[], []]);
    expect(events).toEqual(['run-start', 'run-error', 'run-end']);
  });

  test('reaches the model, the tool and the hook that read their signal', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const note = (who: string, signal: AbortSignal | undefined) =>
      signal?.addEventListener('abort', () => void seen.push(who), { once: true });
    const agent = new Agent({
      model: scriptedModel([calls('wait'), 'never']),
      tools: [
        toolOf('wait', (_input, { signal }) => {
          note('tool', signal);
          return new Promise(() => {});
        }),
      ],
      lifecycle: [
        {
          beforeAgent: (_input, run) => void note('hook', run.signal),
          wrapModelCall: (request, next) => {
            note('model', request.signal);
            return next();
          },
        },
      ],
    });

    const running = agent.run('go', { signal: controller.signal });
    await pause(5);
    controller.abort();
    await rejectionOf(running);

    expect(seen.sort()).toEqual(['hook', 'model', 'tool']);
  });

  test('in a model call that reacts to the signal is a RunAbortedError, not a ModelError', async () => {
    const controller = new AbortController();
    const agent = new Agent({
      model: {
        id: 'heeding',
        generate: ({ signal }) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
            setTimeout(() => controller.abort('enough'), 1);
          }),
      },
    });

    const error = await rejectionOf(agent.run('go', { signal: controller.signal }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough', messages: [{ role: 'user' }] });
  });

  const tools: Readonly<Record<string, (abort: () => void) => unknown>> = {
    'that returns': (abort) => {
      abort();
      return 'fine';
    },
    'that throws': (abort) => {
      abort();
      throw new Error('aborted');
    },
    'that resolves': async (abort) => {
      await pause();
      abort();
      return 'fine';
    },
    'that rejects': async (abort) => {
      await pause();
      abort();
      throw new DOMException('aborted', 'AbortError');
    },
  };

  test.each(Object.entries(tools))(
    'in a tool %s is a RunAbortedError, not a result of the tool',
    async (_title, execute) => {
      const controller = new AbortController();
      const model = scriptedModel([calls('stop'), 'never']);
      const agent = new Agent({ model, tools: [toolOf('stop', () => execute(() => controller.abort('enough')))] });

      const error = (await rejectionOf(agent.run('go', { signal: controller.signal }))) as RunAbortedError;

      expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
      expect(error.messages.at(-1)).toEqual({
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            id: 'call_1',
            name: 'stop',
            content: 'The call was aborted. The run was aborted: enough',
            isError: true,
          },
        ],
      });
      expect(model.requests).toHaveLength(1);
    },
  );

  test('error that a tool throws by itself is an error result, and the run continues', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('sulk'), 'done']),
      tools: [toolOf('sulk', () => Promise.reject(new DOMException('I give up', 'AbortError')))],
    });

    const result = await agent.run('go', { signal: new AbortController().signal });

    expect(result.text).toBe('done');
    expect(result.messages[2]).toMatchObject({ content: [{ content: 'I give up', isError: true }] });
  });

  test('after the end changes nothing', async () => {
    const controller = new AbortController();
    const result = await new Agent({ model: scriptedModel(['done']) }).run('go', { signal: controller.signal });

    controller.abort();
    await pause();

    expect(result.text).toBe('done');
  });

  test('runs no later hook of the point, and no later turn', async () => {
    const controller = new AbortController();
    const called: string[] = [];
    const agent = new Agent({
      model: scriptedModel(['done']),
      lifecycle: [
        { beforeModel: async () => controller.abort() },
        { beforeModel: () => void called.push('beforeModel') },
        {
          wrapModelCall(_request, next) {
            called.push('wrapModelCall');
            return next();
          },
        },
      ],
    });

    const error = await rejectionOf(agent.run('go', { signal: controller.signal }));

    expect(error).toBeInstanceOf(RunAbortedError);
    expect(called).toEqual([]);
  });
});

describe('no listener stays on the signal of the caller', () => {
  const outcomes: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    'an answer': (signal) => new Agent({ model: scriptedModel(['done']) }).run('go', { signal }),
    'tool calls': (signal) =>
      new Agent({ model: scriptedModel(toolRound.script), tools: [echo] }).run('go', { signal }),
    'a model that fails': (signal) => new Agent({ model: scriptedModel([]) }).run('go', { signal }),
    'a hook that fails': (signal) =>
      new Agent({ model: scriptedModel(['done']), lifecycle: [{ beforeAgent: () => Promise.reject('no') }] }).run(
        'go',
        { signal },
      ),
    'bad messages': (signal) =>
      new Agent({ model: scriptedModel(['done']) }).run('go', { signal, messages: [null as never] }),
    'bad options': (signal) => new Agent({ model: scriptedModel(['done']) }).run('go', { signal, maxTurns: 0 }),
    'a loader that fails': (signal) =>
      new Agent({ model: scriptedModel(['done']), loaders: [{ name: 'bad', load: () => Promise.reject('no') }] }).run(
        'go',
        { signal },
      ),
    'a stream that is left': async (signal) => {
      for await (const _event of new Agent({ model: scriptedModel(['done']) }).stream('go', { signal })) break;
    },
    'a session': async (signal) => {
      const session = await new Agent({ model: scriptedModel(['done', 'done']) }).session();
      await Promise.all([session.run('go', { signal }), session.run('go', { signal })]);
    },
    'a sub-agent': (signal) => {
      const sub = new Agent({ name: 'sub', model: scriptedModel(['done']) }).asTool({ description: 'Helps.' });
      return new Agent({ model: scriptedModel([calls('sub', { prompt: 'x' }), 'done']), tools: [sub] }).run('go', {
        signal,
      });
    },
  };

  test.each(Object.entries(outcomes))('after %s', async (_title, act) => {
    const { signal } = new AbortController();

    await within(act(signal).catch(() => 'failed'));

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that a hook set for a call, if the call is aborted and its tool ignores the signal', async () => {
    const { signal } = new AbortController();
    const deaf = toolOf('deaf', (_input, context) => {
      getEventListeners(context.signal, 'abort');
      return new Promise(() => {});
    });
    const end = toolOf('end', (_input, { run }) => (run as RunContext).end(HookAction.respond('enough')));
    const agent = new Agent({
      model: scriptedModel(calls({ name: 'deaf' }, { name: 'end' })),
      tools: [deaf, end],
      lifecycle: [{ wrapToolCall: (call, next) => next({ ...call, signal }) }],
    });

    await agent.run('go');
    await agent.run('go', { signal: new AbortController().signal });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('after a hundred concurrent runs with one signal', async () => {
    const controller = new AbortController();
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'a' }), 'done'], { perRun: true }),
      tools: [echo],
    });

    const half = Array.from({ length: 100 }, () => agent.run('go', { signal: controller.signal }));
    expect(await within(Promise.all(half))).not.toBe(LATE);

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
