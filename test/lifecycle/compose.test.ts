import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/agent/agent.js';
import type { AgentLifecycle, ModelCall, ToolInvoke } from '../../src/lifecycle/lifecycle.js';
import type { ModelResponse } from '../../src/model/model.js';
import {
  calls,
  fails,
  faultyTool,
  recorder,
  type ScriptEntry,
  says,
  scriptedModel,
} from '../../src/testing/testing.js';
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

describe('rule 4: a wrap of the model call', () => {
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

  it('may answer without `next`: the model is not called and costs nothing', async () => {
    const { result, model } = await ask([], { wrapModelCall: () => given });

    expect([result.text, result.usage.totalTokens, model.requests]).toEqual(['given', 0, []]);
  });

  it('may call `next` twice: the inner wraps and the model run afresh, and each call is counted', async () => {
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

  it('may call `next` twice at once, and give the first or the last', async () => {
    const both = (pick: 0 | 1): AgentLifecycle => ({
      wrapModelCall: (_, next) => [next(), next()][pick] as Promise<ModelResponse>,
    });

    expect((await ask(['one', 'two'], both(0))).result.text).toBe('one');
    expect((await ask(['one', 'two'], both(1))).result.text).toBe('two');
  });

  it('may try again after a failure', async () => {
    const retry: AgentLifecycle = { wrapModelCall: (_, next) => next().catch(() => next()) };

    expect((await ask([fails(), 'two'], retry)).result.text).toBe('two');
  });

  it('goes on with its own request where `next` is given none, and with another where it is given one', async () => {
    const settings = { temperature: 0 };
    const { model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], {
      wrapModelCall: (request, next) => (request.run.turn === 1 ? next({ ...request, settings }) : next()),
    });

    expect(model.requests.map((request) => request.settings)).toEqual([settings, undefined]);
  });
});

describe('rule 4: a wrap of a tool call', () => {
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

  it('H5: may answer without `next`, call it twice, or go to another tool', async () => {
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

describe('rule 4: a wrap inside of one that goes to another tool', () => {
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

describe('rule 4: `next` after its hook has settled', () => {
  async function late(point: 'wrapModelCall' | 'wrapToolCall', keep: (next: ModelCall & ToolInvoke) => unknown) {
    let kept: (ModelCall & ToolInvoke) | undefined;
    const record = recorder();
    const keeper = {
      name: 'keeper',
      [point]: (_: unknown, next: ModelCall & ToolInvoke) => {
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
    ['hands `next` on', (next: ModelCall & ToolInvoke) => next()],
    ['awaits it', async (next: ModelCall & ToolInvoke) => await next()],
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
  )('of %s that %s rejects and does nothing', async (point, _how, keep) => {
    const { outcome, before, after } = await late(point, keep);

    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_NEXT_EXPIRED' } });
    expect(outcome).toHaveProperty('reason.message', expect.stringMatching(new RegExp(`"keeper".*${point}`)));
    expect(after).toEqual(before);
  });
});

const passing = {
  'by handing it on': (_: unknown, next: () => unknown) => next(),
  'with its argument': (request: unknown, next: (request: unknown) => unknown) => next(request),
  'by awaiting it': async (_: unknown, next: () => unknown) => await next(),
  'by then': (_: unknown, next: () => Promise<unknown>) => next().then((value) => value),
};

describe.each(Object.entries(passing))('rule 5: a wrap that only calls `next` %s changes nothing', (_how, wrap) => {
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
    'arguments that are no JSON': [calls({ name: 'add', invalidInput: '{"a": 1,' }), 'done'],
    'a response that is cut off': [says('', { calls: [{ name: 'add' }], finishReason: 'length' }), 'done'],
  };

  it.each(Object.entries(scripts))('where there is %s', async (_what, script) => {
    const bare = await ask(script);

    for (const part of parts) {
      const wrapped = await ask(script, part, part);
      expect(wrapped.result).toEqual(bare.result);
      expect(wrapped.model.requests.map(({ messages, tools }) => ({ messages, tools }))).toEqual(
        bare.model.requests.map(({ messages, tools }) => ({ messages, tools })),
      );
    }
  });

  it('where the model fails: a ModelError passes through unchanged, whatever the part does about its own', async () => {
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

describe('rule 5: inside `next`', () => {
  it('a tool that throws is an error result already, which a wrap sees and may replace', async () => {
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

  it('a model that throws is a ModelError already, which a wrap may turn into a response', async () => {
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

  it('an error that a wrap makes of a ModelError is the wrap’s own', async () => {
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

  it('H1: the arguments that a wrap rewrote are checked', async () => {
    const { model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], {
      wrapToolCall: (call, next) => next({ ...call, input: { a: 'one', b: 2 } }),
    });

    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      expect.objectContaining({ isError: true, content: expect.stringContaining('not valid: a:') }),
    ]);
  });
});

describe('rule 9: a wrap with `continue` that throws', () => {
  const bad = (act: (next: () => Promise<unknown>) => unknown) =>
    ({
      name: 'bad',
      onFailure: 'continue',
      wrapModelCall: (_: unknown, next: never) => act(next),
      wrapToolCall: (_: unknown, next: never) => act(next),
    }) as AgentLifecycle;
  const boom = () => Promise.reject(new TypeError('boom'));

  it('before `next` is passed over', async () => {
    const { result, model } = await ask([calls('add', { a: 1, b: 2 }), 'done'], bad(boom));

    expect([result.text, model.requests.length]).toEqual(['done', 2]);
  });

  it('after `next` keeps what it gave, without another call', async () => {
    const { result, model } = await ask(
      [calls('add', { a: 1, b: 2 }), 'done'],
      bad((next) => next().then(boom)),
    );

    expect([result.text, model.requests.length]).toEqual(['done', 2]);
  });

  it('after several keeps what the last one gave', async () => {
    const twice = bad(async (next) => {
      await next();
      await next();
      return boom();
    });
    const { result } = await ask(['one', 'two'], twice);

    expect(result.text).toBe('two');
  });

  it('while `next` is on its way waits for what it gives', async () => {
    const throwing = bad((next) => {
      void next();
      throw new TypeError('boom');
    });

    expect((await ask(['one'], throwing)).result.text).toBe('one');
  });

  it('after a ModelError passes that one on', async () => {
    const agent = ask(
      [fails('overloaded')],
      bad((next) => next().catch(boom)),
    );

    await expect(agent).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED' });
  });
});

it('S4-FR4.3: a run over one adding model sees two model calls and one tool call in its wraps', async () => {
  const record = recorder();
  const lifecycle = [record.lifecycle('a', { only: ['wrapModelCall', 'wrapToolCall'] })];
  await new Agent({ model: addingModel(), tools: [add], lifecycle }).run('Hello');

  const model = ['a.wrapModelCall>', '<a.wrapModelCall'];
  expect(record.log).toEqual([...model, 'a.wrapToolCall>', '<a.wrapToolCall', ...model]);
});
