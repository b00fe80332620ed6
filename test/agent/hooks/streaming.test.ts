import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  type AgentOptions,
  HookAction,
  type Model,
  type ModelPart,
  type ModelRequest,
  type ModelResponse,
} from 'keelson';
import { calls, fails, recorder, responds, type ScriptEntry, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { manualClock, settled } from '../../support/lifecycle/manual-clock.js';
import { add, keepingLogger } from '../../support/lifecycle/sample-agent.js';

/** Formats an event as its type; a delta also has its attempt and text. */
function word(event: AgentEvent): string {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
    return `${event.type === 'text-delta' ? 'text' : 'thought'} ${event.attempt}: ${event.text}`;
  }
  return event.type;
}

/** Returns the events of a stream from model-start to model-end. */
async function told(
  script: readonly ScriptEntry[],
  lifecycle: readonly AgentLifecycle[],
  options: Partial<AgentOptions> = {},
) {
  const logger = keepingLogger();
  const agent = new Agent({ model: scriptedModel(script), tools: [add], lifecycle, logger, ...options });
  const words: string[] = [];
  const events: AgentEvent[] = [];
  try {
    for await (const event of agent.stream('Hello')) {
      events.push(event);
      words.push(word(event));
    }
  } catch {
    // The stream throws the error of the run after its last event.
  }
  const parts = words.slice(words.indexOf('model-start') + 1, words.lastIndexOf('model-end'));
  return { words, events, parts: parts.filter((it) => it !== 'decision') };
}

const retry: AgentLifecycle = { wrapModelCall: (_, next) => next().catch(() => next()) };

describe('deltas', () => {
  it('have their attempt, and a retry starts again from the beginning', async () => {
    const { words } = await told([streams(['Hel', 'lo'], fails()), streams(['Good ', 'day'])], [retry]);

    expect(words).toEqual([
      ...['run-start', 'turn-start', 'model-start', 'text 1: Hel', 'text 1: lo', 'text 2: Good ', 'text 2: day'],
      ...['model-end', 'turn-end', 'run-end'],
    ]);
  });

  it('start with attempt 1 in each turn', async () => {
    const script = [
      says('Let me see', { calls: [{ name: 'add', input: { a: 1, b: 2 } }] }),
      streams(['do'], fails()),
      streams(['done']),
    ];
    const { words } = await told(script, [retry]);

    expect(words.filter((it) => it.startsWith('text'))).toEqual([
      ...['text 1: Let ', 'text 1: me s', 'text 1: ee', 'text 1: do', 'text 2: done'],
    ]);
  });

  it('of an abandoned attempt are dropped', async () => {
    const hedge: AgentLifecycle = {
      wrapModelCall: async (_, next) => {
        const first = next();
        void first.catch(() => {});
        await settled();
        const second = await next();
        await settled();
        return second;
      },
    };
    const model = pushing(async (push, call) => {
      push(`${call}a `);
      await settled();
      await settled();
      push(`${call}b `);
      return `${call}`;
    });

    expect((await told([], [hedge], { model })).parts).toEqual(['text 1: 1a ', 'text 2: 2a ', 'text 2: 2b ']);
  });

  it('that arrive after their response are dropped, during a tool call and after the run', async () => {
    const late: (() => void)[] = [];
    const model = pushing(async (push, call) => {
      push(`${call} `);
      late.push(() => push('late '));
      return call === 1 ? [{ type: 'tool-call', id: 'a', name: 'slow', input: {} }] : 'done';
    });
    const slow = {
      ...add,
      name: 'slow',
      check: (value: unknown) => ({ value }),
      execute: async () => {
        late[0]?.();
        return '3';
      },
    };

    const { words } = await told([], [], { model, tools: [slow] });
    for (const push of late) push();

    expect(words.filter((it) => it.startsWith('text'))).toEqual(['text 1: 1 ', 'text 1: 2 ']);
  });

  it('of a model call that timed out are dropped after the run', async () => {
    const clock = manualClock();
    let push: ((text: string) => void) | undefined;
    const model = pushing((given) => {
      push = given;
      return new Promise(() => {});
    });
    const agent = new Agent({ model, clock, timeouts: { modelMs: 10 }, logger: keepingLogger() });
    const record = recorder();
    record.listenTo(agent, { deltas: true });
    const run = agent.run('Hello').catch(() => {});
    await clock.advance(10);
    await run;

    push?.('late');

    expect(record.log.at(-1)).toBe('run-end');
    expect(record.log).not.toContain('text-delta');
  });

  it('have the whole text if the model does not stream or a hook answers', async () => {
    const whole: ModelResponse = {
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'whole' },
      ],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    };
    const cached = await told([], [{ wrapModelCall: () => whole }]);

    expect((await told([responds(whole)], [])).parts).toEqual(['thought 1: hm', 'text 1: whole']);
    expect((await told([streams(['broken'], fails()), responds(whole)], [retry])).parts).toEqual([
      ...['text 1: broken', 'thought 2: hm', 'text 2: whole'],
    ]);
    expect(cached.parts.map((it) => it.replace(/ \d/, ''))).toEqual(['thought: hm', 'text: whole']);
  });

  it('have the whole text if the model streams only parts of an unknown type', async () => {
    const content = [
      { type: 'reasoning', text: 'Hm' },
      { type: 'file', data: 'x', mediaType: 'text/plain' },
      { type: 'text', text: 'whole' },
      { type: 'text', text: '' },
    ] as const;
    const model: Model = {
      id: 'unknown parts',
      async generate({ onPart }) {
        onPart?.({ type: 'audio-delta', data: 'x' } as never);
        return { content, finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
      },
    };

    expect((await told([], [], { model })).parts).toEqual(['thought 1: Hm', 'text 1: whole']);
  });

  it('are provisional: model-end has the response after all hooks', async () => {
    const edit: AgentLifecycle = {
      afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: 'edited' }] }),
    };
    const { events, parts } = await told([streams(['raw'])], [edit]);

    expect(parts).toEqual(['text 1: raw']);
    expect(events.find(({ type }) => type === 'model-end')).toMatchObject({
      response: { content: [{ type: 'text', text: 'edited' }] },
    });
  });

  it('are not requested from the model without a listener', async () => {
    const model = scriptedModel(['done', 'done']);
    const agent = new Agent({ model, lifecycle: [{ holdStream: true, afterModel: () => {} }] });
    await agent.run('Hello');
    agent.on('model-end', () => {});
    await agent.run('Hello');

    expect(model.requests.map(({ onPart }) => onPart)).toEqual([undefined, undefined]);
  });
});

type Content = string | ModelResponse['content'];

/** A model whose parts are emitted by the test. */
function pushing(answer: (push: (text: string) => void, call: number) => Promise<Content>) {
  let count = 0;
  return {
    id: 'pushing',
    async generate({ onPart }: ModelRequest): Promise<ModelResponse> {
      count += 1;
      const part = (text: string): ModelPart => ({ type: 'text-delta', text });
      const given = await answer((text) => onPart?.(part(text)), count);
      const content = typeof given === 'string' ? [{ type: 'text' as const, text: given }] : given;
      return { content, finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
    },
  };
}

describe('with `holdStream`', () => {
  const hold: AgentLifecycle = { holdStream: true };

  it('text is emitted after afterModel, as afterModel left it', async () => {
    const seen: string[] = [];
    const judge: AgentLifecycle = {
      holdStream: true,
      afterModel: async (response) => {
        await settled();
        seen.push('judged');
        return HookAction.modify({ ...response, content: [{ type: 'text', text: 'clean' }] });
      },
    };
    const agent = new Agent({ model: scriptedModel([streams(['dir', 'ty'])]), lifecycle: [judge] });
    for (const type of ['text-delta', 'model-end'] as const) agent.on(type, (event) => void seen.push(word(event)));

    await agent.run('Hello');

    expect(seen).toEqual(['judged', 'text 1: clean', 'model-end']);
  });

  it('one lifecycle with `holdStream` delays text and reasoning of the whole agent', async () => {
    const script = [
      streams([{ type: 'reasoning-delta', text: 'h' }, { type: 'reasoning-delta', text: 'm' }, 'do', 'ne']),
    ];

    expect((await told(script, [{}, hold, {}])).parts).toEqual(['thought 1: hm', 'text 1: done']);
    expect((await told(script, [{}])).parts).toEqual(['thought 1: h', 'thought 1: m', 'text 1: do', 'text 1: ne']);
  });

  it('the text of a failed attempt is not emitted', async () => {
    expect((await told([streams(['Hel'], fails()), streams(['Good ', 'day'])], [retry, hold])).parts).toEqual([
      'text 2: Good day',
    ]);
  });

  it.each([
    ['rejected', HookAction.reject('no'), []],
    ['answered', HookAction.respond('instead'), ['text 2: instead']],
  ])('the text of a response that was %s is not emitted', async (_how, action, shown) => {
    const { words, events } = await told([streams(['secret'])], [{ ...hold, afterModel: () => action }]);

    expect(words.filter((it) => it.startsWith('text'))).toEqual(shown);
    expect(events.find(({ type }) => type === 'model-end')).not.toHaveProperty('response.content');
  });

  it('a run after the removal of the lifecycle streams again', async () => {
    const agent = new Agent({ model: scriptedModel(() => streams(['do', 'ne'])) });
    const words: string[] = [];
    agent.on('text-delta', (event) => void words.push(word(event)));
    const dispose = agent.use(hold);

    await agent.run('Hello');
    dispose();
    await agent.run('Hello');

    expect(words).toEqual(['text 1: done', 'text 1: do', 'text 1: ne']);
  });
});

describe('a stream is a run with a listener', () => {
  const script = [says('Let me see', { calls: [{ name: 'add', input: { a: 1, b: 2 } }] }), 'done'];

  it('`run` and `stream` call the same hooks and have the same result', async () => {
    const both = await Promise.all(
      ['run', 'stream'].map(async (how) => {
        const record = recorder();
        const agent = new Agent({ model: scriptedModel(script), tools: [add], lifecycle: [record.lifecycle('a')] });
        const result = how === 'run' ? await agent.run('Hello') : await agent.stream('Hello').result;
        return { log: record.log, result };
      }),
    );

    expect(both[1]).toEqual(both[0]);
  });

  it('tool-end has the result after the wrap hooks', async () => {
    const redact: AgentLifecycle = { wrapToolCall: async (_, next) => ({ ...(await next()), content: '***' }) };
    const { events } = await told(script, [redact]);

    expect(events.filter(({ type }) => type.startsWith('tool'))).toEqual([
      expect.objectContaining({ type: 'tool-start', callId: 'call_1', input: { a: 1, b: 2 } }),
      expect.objectContaining({ type: 'tool-end', callId: 'call_1', result: { content: '***' } }),
    ]);
  });

  it('leaving the stream aborts the run and calls onError', async () => {
    const record = recorder();
    const lifecycle = [record.lifecycle('a', { only: ['afterAgent', 'onError'] })];
    const agent = new Agent({ model: scriptedModel([calls('add', { a: 1, b: 2 }), 'done']), tools: [add], lifecycle });
    const stream = agent.stream('Hello');

    for await (const { type } of stream) if (type === 'tool-start') break;

    await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(record.log).toEqual(['a.onError']);
  });
});
