import { Agent, type AgentLifecycle, type ModelCallNext, type ModelResponse, type ToolCallNext } from 'keelson';
import { calls, fails, faultyTool, hangs, recorder, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { settled } from '../support/lifecycle/manual-clock.js';
import { add, addingModel, keepingLogger } from '../support/lifecycle/sample-agent.js';

const given: ModelResponse = {
  content: [{ type: 'text', text: 'given' }],
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
};

async function ask(script: readonly ScriptEntry[], ...lifecycle: readonly AgentLifecycle[]) {
  const model = scriptedModel(script);
  const agent = new Agent({ model, tools: [add, faultyTool('throws')], lifecycle, logger: keepingLogger() });
  return { result: await agent.run('Hello'), model };
}

describe('an asynchronous wrap hook that calls `next` and settles before the call has ended', () => {
  const hasty = async (call: unknown, next: (call: unknown) => unknown) => void next(call);
  const hooks: readonly [string, AgentLifecycle][] = [
    ['wrapModelCall', { wrapModelCall: hasty as never }],
    ['wrapToolCall', { wrapToolCall: hasty as never }],
  ];

  it.each(hooks)('%s fails, because it returns no result', async (point, hook) => {
    const running = ask([calls('add', { a: 1, b: 2 }), 'done'], { name: 'hasty', ...hook });

    await expect(running).rejects.toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'hasty', point });
  });

  it.each(hooks)('%s is passed over with `onFailure: continue`', async (_, hook) => {
    const { result } = await ask([calls('add', { a: 1, b: 2 }), 'done'], { onFailure: 'continue', ...hook });

    expect(result.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(result.history[2]?.content).toMatchObject([{ content: '3' }]);
  });

  it.each([undefined, null, new TypeError('late')])('an error such as %s is that of the hook', async (error) => {
    const thrower: AgentLifecycle = {
      name: 'hasty',
      async wrapToolCall(call, next) {
        void next(call);
        throw error;
      },
    };

    await expect(ask([calls('add', { a: 1, b: 2 })], thrower)).rejects.toMatchObject({
      lifecycle: 'hasty',
      cause: error,
    });
  });
});

describe('a wrap hook of the model call', () => {
  it('S4-FR4.3: sees the call and its response', async () => {
    const seen: unknown[] = [];
    await ask(['done'], {
      async wrapModelCall(request, next) {
        const { messages, tools, model, run } = request;
        const response = await next(request);
        seen.push(
          [...messages],
          tools.map((tool) => tool.name),
          model.id,
          run.turn,
          response.content,
        );
        return response;
      },
    });

    const answer = [{ type: 'text', text: 'done' }];
    expect(seen).toEqual([[{ role: 'user', content: 'Hello' }], ['add', 'throws'], 'scripted', 1, answer]);
  });

  it('may answer without `next`: the model is not called and uses no tokens', async () => {
    const { result, model } = await ask([], { wrapModelCall: () => given });

    expect([result.text, result.usage.totalTokens, model.requests]).toEqual(['given', 0, []]);
  });

  it('may call `next` twice: the inner hooks and the model run twice, and both calls are counted', async () => {
    const record = recorder();
    const twice: AgentLifecycle = {
      wrapModelCall: async (_, next) => [await next(), await next()][1] as ModelResponse,
    };
    const { result } = await ask(['one', 'two'], twice, record.lifecycle('inner', { only: ['wrapModelCall'] }));

    expect([result.text, result.turns, result.usage.totalTokens]).toEqual(['two', 1, 30]);
    expect(record.log).toEqual(
      Array.from({ length: 2 }, () => ['inner.wrapModelCall>', '<inner.wrapModelCall']).flat(),
    );
  });

  it('may call `next` twice in parallel, and return the first or the last result', async () => {
    const both = (pick: 0 | 1): AgentLifecycle => ({
      wrapModelCall: (_, next) => [next(), next()][pick] as Promise<ModelResponse>,
    });

    expect((await ask(['one', 'two'], both(0))).result.text).toBe('one');
    expect((await ask(['one', 'two'], both(1))).result.text).toBe('two');
  });

  it('may call `next` again after a failure', async () => {
    const retry: AgentLifecycle = { wrapModelCall: (_, next) => next().catch(() => next()) };

    expect((await ask([fails(), 'two'], retry)).result.text).toBe('two');
  });

  it('passes on its own request if `next` has no argument, and the argument otherwise', async () => {
    const settings = { temperature: 0 };
    const { model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], {
      wrapModelCall: (request, next) => (request.run.turn === 1 ? next({ ...request, settings }) : next()),
    });

    expect(model.requests.map((request) => request.settings)).toEqual([settings, undefined]);
  });
});

describe('a wrap hook of a tool call', () => {
  it('S4-FR4.5: sees the call, its name and its result', async () => {
    const seen: unknown[] = [];
    await ask([calls('add', { a: 1, b: 2 }), 'done'], {
      async wrapToolCall(call, next) {
        const result = await next(call);
        seen.push(call.id, call.name, call.input, call.tool === add, call.run.turn, result);
        return result;
      },
    });

    expect(seen).toEqual(['call_1', 'add', { a: 1, b: 2 }, true, 1, { content: '3' }]);
  });

  it('H5: may answer without `next`, call `next` twice, or call another tool', async () => {
    const wraps: readonly AgentLifecycle[] = [
      { wrapToolCall: () => ({ content: 'given' }) },
      {
        wrapToolCall: async (_, next) => ({ content: [await next(), await next()].map((it) => it.content).join('+') }),
      },
      { wrapToolCall: (call, next) => next({ ...call, name: 'throws' }) },
    ];
    const results = wraps.map(async (wrap) => {
      const { model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], wrap);
      return model.requests[1]?.messages.at(-1)?.content;
    });

    const part = { type: 'tool-result', id: 'call_1', name: 'add' };
    expect(await Promise.all(results)).toEqual([
      [{ ...part, content: 'given' }],
      [{ ...part, content: '3+3' }],
      [{ ...part, content: 'The tool failed as scripted.', isError: true }],
    ]);
  });
});

describe('a wrap hook inside of one that calls another tool', () => {
  it.each([
    { to: 'another tool', called: 'add', name: 'throws', seen: 'throws' },
    { to: 'a tool that there is, from one that there is not', called: 'sum', name: 'add', seen: 'add' },
    { to: 'a tool that there is not', called: 'add', name: 'sum', seen: undefined },
  ])('sees the tool that will run: $to', async ({ called, name, seen }) => {
    const tools: unknown[] = [];
    await ask(
      [calls(called, { a: 1, b: 2 }), 'done'],
      { wrapToolCall: (call, next) => next({ ...call, name }) },
      {
        wrapToolCall(call, next) {
          tools.push([call.name, call.tool?.name]);
          return next();
        },
      },
    );

    expect(tools).toEqual([[name, seen]]);
  });
});

describe('`next` after its hook has settled', () => {
  async function late(point: 'wrapModelCall' | 'wrapToolCall', keep: (next: ModelCallNext & ToolCallNext) => unknown) {
    let kept: (ModelCallNext & ToolCallNext) | undefined;
    const record = recorder();
    const keeper = {
      name: 'keeper',
      [point]: (_: unknown, next: ModelCallNext & ToolCallNext) => {
        kept = next;
        return keep(next);
      },
    };
    const { model } = await ask(
      [calls('add', { a: 1, b: 2 }), 'done'],
      keeper as AgentLifecycle,
      record.lifecycle('inner', { only: [point] }),
    ).catch(() => ({ model: undefined }));
    const before = [record.log.length, model?.requests.length];
    const [outcome] = await Promise.allSettled([kept?.()]);
    await settled();
    return { outcome, before, after: [record.log.length, model?.requests.length] };
  }

  const ends = [
    ['returns `next()`', (next: ModelCallNext & ToolCallNext) => next()],
    ['awaits it', async (next: ModelCallNext & ToolCallNext) => await next()],
    ['rejects', () => Promise.reject(new TypeError('no'))],
    [
      'throws',
      () => {
        throw new TypeError('no');
      },
    ],
  ] as const;

  it.each(
    ends.flatMap(([how, keep]) => (['wrapModelCall', 'wrapToolCall'] as const).map((at) => [at, how, keep] as const)),
  )('of a %s hook that %s rejects and does nothing', async (point, _how, keep) => {
    const { outcome, before, after } = await late(point, keep);

    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_NEXT_EXPIRED' } });
    expect(outcome).toHaveProperty('reason.message', expect.stringMatching(new RegExp(`"keeper".*${point}`)));
    expect(after).toEqual(before);
  });
});

const passing = {
  'and returns its promise': (_: unknown, next: () => unknown) => next(),
  'with its own request': (request: unknown, next: (request: unknown) => unknown) => next(request),
  'and awaits it': async (_: unknown, next: () => unknown) => await next(),
  'and uses `then`': (_: unknown, next: () => Promise<unknown>) => next().then((value) => value),
};

describe.each(Object.entries(passing))('a wrap hook that calls `next` %s changes nothing', (_how, wrap) => {
  const parts = [
    { wrapModelCall: wrap, wrapToolCall: wrap },
    { wrapModelCall: wrap, wrapToolCall: wrap, onFailure: 'continue', timeoutMs: 1_000 },
    { wrapModelCall: wrap, wrapToolCall: wrap, onFailure: 'block' },
  ] as unknown as readonly AgentLifecycle[];
  const scripts: Record<string, readonly ScriptEntry[]> = {
    'an answer': [says('done', { reasoning: 'hm' })],
    'a tool': [calls('add', { a: 1, b: 2 }), 'done'],
    'several tools': [
      calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'throws' }, { name: 'add', input: {} }),
      'done',
    ],
    'a tool that throws': [calls('throws'), 'done'],
    'a tool that does not exist': [calls('missing'), 'done'],
    'arguments that fail their schema': [calls('add', { a: 'x' }), 'done'],
    'arguments that are not JSON': [calls({ name: 'add', invalidInput: '{"a": 1,' }), 'done'],
    'a response that is cut off': [says('', { calls: [{ name: 'add' }], finishReason: 'length' }), 'done'],
  };

  it.each(Object.entries(scripts))('in a run with %s', async (_what, script) => {
    const bare = await ask(script);

    for (const part of parts) {
      const wrapped = await ask(script, part, part);
      expect(wrapped.result).toEqual(bare.result);
      expect(wrapped.model.requests.map(({ messages, tools }) => ({ messages, tools }))).toEqual(
        bare.model.requests.map(({ messages, tools }) => ({ messages, tools })),
      );
    }
  });

  it('if the model fails, the ModelError is rethrown unchanged with every `onFailure`', async () => {
    const cause = Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 7 });
    for (const part of parts) {
      const logger = keepingLogger();
      const agent = new Agent({ model: scriptedModel([fails(cause)]), lifecycle: [part, part], logger });
      const error = { code: 'ERR_MODEL_FAILED', cause, status: 529, retryable: true, retryAfterMs: 7 };

      await expect(agent.run('Hello')).rejects.toMatchObject(error);
      expect(logger.lines).toEqual([]);
    }
  });
});

describe('inside `next`', () => {
  it('the error of a tool is an error result that a wrap hook may replace', async () => {
    const seen: unknown[] = [];
    const { model } = await ask([calls('throws'), 'done'], {
      wrapToolCall: async (_, next) => {
        seen.push(await next());
        return { content: 'softened' };
      },
    });

    expect(seen).toEqual([{ content: 'The tool failed as scripted.', isError: true }]);
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      { type: 'tool-result', id: 'call_1', name: 'throws', content: 'softened' },
    ]);
  });

  it('the error of a model is a ModelError that a wrap hook may replace with a response', async () => {
    const seen: unknown[] = [];
    const { result } = await ask([fails('overloaded')], {
      wrapModelCall: (_, next) =>
        next().catch((error: unknown) => {
          seen.push(error);
          return given;
        }),
    });

    expect(seen).toEqual([expect.objectContaining({ code: 'ERR_MODEL_FAILED', model: 'scripted' })]);
    expect(result.text).toBe('given');
  });

  it('an error that a wrap hook throws instead of a ModelError is a failure of the hook', async () => {
    const mapped = new RangeError('mapped');
    const mapping: AgentLifecycle = {
      name: 'mapping',
      wrapModelCall: (_, next) => next().catch(() => Promise.reject(mapped)),
    };

    await expect(ask([fails()], mapping)).rejects.toMatchObject({
      lifecycle: 'mapping',
      point: 'wrapModelCall',
      cause: mapped,
    });
  });

  it('H1: the arguments that a wrap hook changed are checked', async () => {
    const { model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], {
      wrapToolCall: (call, next) => next({ ...call, input: { a: 'one', b: 2 } }),
    });

    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      expect.objectContaining({ isError: true, content: expect.stringContaining('not valid: a:') }),
    ]);
  });
});

describe('a wrap hook with `continue` that throws', () => {
  const bad = (act: (next: () => Promise<unknown>) => unknown) =>
    ({
      name: 'bad',
      onFailure: 'continue',
      wrapModelCall: (_: unknown, next: never) => act(next),
      wrapToolCall: (_: unknown, next: never) => act(next),
    }) as AgentLifecycle;
  const boom = () => Promise.reject(new TypeError('boom'));

  it('before `next` is skipped', async () => {
    const { result, model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], bad(boom));

    expect([result.text, model.requests.length]).toEqual(['done', 2]);
  });

  it('after `next` keeps the result of `next` without another call', async () => {
    const { result, model } = await ask(
      [calls('add', { a: 1, b: 2 }), 'done'],
      bad((next) => next().then(boom)),
    );

    expect([result.text, model.requests.length]).toEqual(['done', 2]);
  });

  it('after several calls of `next` keeps the last result', async () => {
    const twice = bad(async (next) => {
      await next();
      await next();
      return boom();
    });
    const { result } = await ask(['one', 'two'], twice);

    expect(result.text).toBe('two');
  });

  it('while `next` is running waits for the result of `next`', async () => {
    const throwing = bad((next) => {
      void next();
      throw new TypeError('boom');
    });

    expect((await ask(['one'], throwing)).result.text).toBe('one');
  });

  it('after a ModelError rethrows the ModelError', async () => {
    const agent = ask(
      [fails('overloaded')],
      bad((next) => next().catch(boom)),
    );

    await expect(agent).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED' });
  });
});

describe('`next` of a wrap hook', () => {
  it('expires when the hook has returned the promise of a changed call', async () => {
    let late: ToolCallNext | undefined;
    const inputs: unknown[] = [];
    const lifecycle: AgentLifecycle[] = [
      {
        wrapToolCall(call, next) {
          late = next;
          return next({ ...call, input: { a: 5, b: 5 } });
        },
        afterModel: async () => {
          if (late !== undefined) await expect(late()).rejects.toMatchObject({ code: 'ERR_NEXT_EXPIRED' });
        },
      },
      {
        wrapToolCall(call, next) {
          inputs.push(call.input);
          return next();
        },
      },
    ];

    await new Agent({ model: addingModel(), tools: [add], lifecycle }).run('Hello');

    expect(late).toBeDefined();
    expect(inputs).toEqual([{ a: 5, b: 5 }]);
  });

  it('is aborted if it is pending when the outer hook returns, also after failures of the inner hook', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    let asked = 0;
    const model = scriptedModel(({ signal }) => {
      signals.push(signal);
      return signals.length < 4 ? says('done') : hangs();
    });
    const lifecycle: AgentLifecycle[] = [
      {
        async wrapModelCall(_request, next) {
          for (let n = 0; n < 2; n++) await next();
          const answer = await next();
          void next().catch(() => {});
          return answer;
        },
      },
      {
        onFailure: 'continue',
        async wrapModelCall(_request, next) {
          asked += 1;
          if (asked < 4) throw new TypeError('broken');
          return await next();
        },
      },
    ];

    const { text } = await new Agent({ model, lifecycle, logger: keepingLogger() }).run('Hello');

    expect(text).toBe('done');
    expect(signals).toHaveLength(4);
    expect(signals[3]?.aborted).toBe(true);
  });

  it('that was called twice leaves no aborted signal if the hook returns its first promise', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const model = scriptedModel(({ signal }) => {
      signals.push(signal);
      return says(`${signals.length}`);
    });
    const wrapModelCall: AgentLifecycle['wrapModelCall'] = (_request, next) => {
      const first = next();
      void next();
      return first;
    };

    const { text } = await new Agent({ model, lifecycle: [{ wrapModelCall }] }).run('Hello');

    expect(text).toBe('1');
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
  });

  it('returns a rejected promise after an abort of the run, and does not throw', async () => {
    const stop = new AbortController();
    const outcomes: unknown[] = [];
    const lifecycle: AgentLifecycle[] = [
      {
        async wrapModelCall(_request, next) {
          stop.abort();
          const answer = next();
          outcomes.push(await answer.catch((error: unknown) => error));
          return answer;
        },
      },
      { wrapModelCall: (_request, next) => next() },
    ];

    const run = new Agent({ model: scriptedModel(['done']), lifecycle }).run('Hello', { signal: stop.signal });

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(outcomes).toMatchObject([{ code: 'ERR_RUN_ABORTED' }]);
  });
});
