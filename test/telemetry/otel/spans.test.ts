import {
  Agent,
  type AgentLifecycle,
  type Clock,
  defineTool,
  HookAction,
  type RunContext,
  type RunOptions,
} from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls, delays, fails, hangs, says, scriptedModel, streams } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { shown, Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});
const broken = defineTool({
  name: 'broken',
  description: 'Fails.',
  input: z.object({}),
  execute: () => Promise.reject(new RangeError('a secret')),
});

type Script = Parameters<typeof scriptedModel>[0];

function createAgent(script: Script, lifecycle: readonly AgentLifecycle[] = []): Agent {
  return new Agent({
    name: 'clerk',
    model: scriptedModel(script, { id: 'm-1', provider: 'acme' }),
    tools: [add, broken],
    lifecycle: [...lifecycle, openTelemetry()],
    ids: { next: (kind) => `${kind}-1` },
  });
}

describe('a run', () => {
  test('has a span for the run, each model call and each tool call, with the attributes of the conventions', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cacheWriteTokens: 4, reasoningTokens: 1 };
    const script = [calls('add', { a: 1, b: 2 }), says('Three.', { usage })];
    const settings = {
      ...{ temperature: 0.5, topP: 0.9, maxOutputTokens: 100, stopSequences: ['END'], seed: 7 },
      ...{ presencePenalty: 0.1, frequencyPenalty: 0.2, reasoningEffort: 'low' as const },
    };
    const session = await createAgent(script).session({ id: 'talk' });

    await session.run('Hello', { settings });

    const [first, tool, last, run] = telemetry.spans.map(shown);
    const chat = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'acme',
      'gen_ai.request.model': 'm-1',
      'gen_ai.conversation.id': 'talk',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.max_tokens': 100,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.request.seed': 7,
      'gen_ai.request.presence_penalty': 0.1,
      'gen_ai.request.frequency_penalty': 0.2,
      'gen_ai.request.reasoning.level': 'low',
    };
    expect(telemetry.tree()).toEqual(['invoke_agent clerk', '  chat m-1', '  execute_tool add', '  chat m-1']);
    expect(first).toEqual({
      kind: 'CLIENT',
      status: 'UNSET',
      attributes: {
        ...chat,
        'gen_ai.response.finish_reasons': ['tool_call'],
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
      },
    });
    expect(tool).toEqual({
      kind: 'INTERNAL',
      status: 'UNSET',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'add',
        'gen_ai.tool.call.id': 'call_1',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': 'Adds.',
        'gen_ai.agent.name': 'clerk',
      },
    });
    const written = { 'gen_ai.usage.cache_write.input_tokens': 4, 'gen_ai.usage.cache_creation.input_tokens': 4 };
    const tokens = { ...written, 'gen_ai.usage.cache_read.input_tokens': 2, 'gen_ai.usage.reasoning.output_tokens': 1 };
    expect(last?.attributes).toEqual({
      ...chat,
      ...tokens,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
    });
    expect(run).toEqual({
      kind: 'INTERNAL',
      status: 'UNSET',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'acme',
        'gen_ai.request.model': 'm-1',
        'gen_ai.agent.name': 'clerk',
        'gen_ai.conversation.id': 'talk',
        'keelson.run.id': 'run-1',
        'keelson.run.status': 'completed',
        ...tokens,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 17,
        'gen_ai.usage.output_tokens': 8,
      },
    });
  });

  test('has the same spans and a stream attribute if it is streamed', async () => {
    const stream = createAgent([streams(['Hel', 'lo'])]).stream('Hello');
    for await (const _event of stream);

    expect(telemetry.tree()).toEqual(['invoke_agent clerk', '  chat m-1']);
    expect(telemetry.span('chat m-1').attributes['gen_ai.request.stream']).toBe(true);
  });

  test('has the output type json with an output schema', async () => {
    const output = z.object({ sum: z.number() });
    await createAgent('{"sum":3}').run('Hello', { output });

    expect(telemetry.span('chat m-1').attributes['gen_ai.output.type']).toBe('json');
  });
});

describe('failures', () => {
  const failed = (name: string) => {
    const span = telemetry.span(name);
    const { status, attributes } = shown(span);
    return {
      ...{ status, type: attributes['error.type'], message: span.status.message },
      events: span.events.map(({ name: event, attributes: of }) => ({ event, ...of })),
    };
  };

  test("a failed model call sets its status code as the error type, on its span and the run's span", async () => {
    const agent = createAgent([fails(Object.assign(new Error('a secret'), { status: 429 }))]);

    await expect(agent.run('Hello')).rejects.toThrow();

    const end = {
      ...{ status: 'ERROR', type: '429', message: undefined },
      events: [{ event: 'exception', 'exception.type': 'ModelError' }],
    };
    expect(failed('chat m-1')).toEqual(end);
    expect(failed('invoke_agent clerk')).toEqual(end);
    expect(telemetry.span('invoke_agent clerk').attributes['keelson.run.status']).toBe('failed');
  });

  test("an error result marks only the tool call's span, without the result's content", async () => {
    await createAgent([calls('broken', {}), says('So be it.')]).run('Hello');

    expect(failed('execute_tool broken')).toEqual({
      ...{ status: 'ERROR', type: 'tool_error', message: undefined },
      events: [{ event: 'exception', 'exception.type': 'RangeError' }],
    });
    expect(shown(telemetry.span('invoke_agent clerk')).status).toBe('UNSET');
    expect(JSON.stringify(telemetry.spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(
      'secret',
    );
  });

  test('an unknown tool name from a model is recorded as _OTHER', async () => {
    await createAgent([calls('made_up', {}), says('So be it.')]).run('Hello');

    expect(telemetry.span('execute_tool _OTHER').attributes['gen_ai.tool.name']).toBe('_OTHER');
  });

  test('a rejected run has the code of its error as the error type', async () => {
    const guard: AgentLifecycle = { beforeModel: () => HookAction.reject('no') };

    await expect(createAgent([], [guard]).run('Hello')).rejects.toThrow();

    expect(failed('invoke_agent clerk')).toMatchObject({ status: 'ERROR', type: 'ERR_RUN_REJECTED' });
  });

  test.each<[string, Script, RunOptions]>([
    ['a model call', [hangs()], {}],
    ['a tool call', [calls('wait', {})], {}],
    ['two tool calls', [calls({ name: 'wait', input: {} }, { name: 'wait', input: {} })], {}],
    ['a model call that times out', [hangs()], { timeouts: { runMs: 20 } }],
  ])('a run that ends in the middle of %s leaves no span open', async (_what, script, options) => {
    const begun: string[] = [];
    const wait = defineTool({ ...{ name: 'wait', description: 'Waits.' }, input: z.object({}), execute: forever });
    const abort = new AbortController();
    const agent = createAgent(script, [noteBeginnings(begun)]);
    const signal = options.timeouts === undefined ? abort.signal : undefined;
    setTimeout(() => abort.abort(), 20);

    await expect(agent.run('Hello', { ...options, signal, tools: [wait] })).rejects.toThrow();

    const ended = telemetry.spans.map(({ name }) => name.split(' ')[0]);
    expect(ended.sort()).toEqual(begun.sort());
    expect(failed('invoke_agent clerk').status).toBe('ERROR');
  });

  test('a call still running at the end of its run is ended with the run, and only once', async () => {
    let settle = (_result: string) => {};
    const late = defineTool({
      ...{ name: 'late', description: 'Is late.', input: z.object({}) },
      execute: (_input, { run }) => {
        (run as RunContext).end(HookAction.respond('Enough.'));
        return new Promise<string>((resolve) => {
          settle = resolve;
        });
      },
    });
    const agent = createAgent([calls({ name: 'late', input: {} }, { name: 'add', input: { a: 1, b: 1 } })]);

    const { text } = await agent.run('Hello', { tools: [late, add] });
    settle('At last.');
    await new Promise((resolve) => setTimeout(resolve, 1));

    expect(text).toBe('Enough.');
    expect(failed('execute_tool late')).toMatchObject({ status: 'ERROR', type: 'interrupted', events: [] });
    expect(telemetry.span('invoke_agent clerk').attributes['keelson.run.status']).toBe('completed');
    const measured = await telemetry.pointsOf('gen_ai.execute_tool.duration');
    expect(measured.map(({ count, attributes }) => [attributes['gen_ai.tool.name'], count])).toEqual([['late', 1]]);
  });
});

/**
 * Returns a lifecycle that adds the name of each operation to `begun` at its start. It runs inside the OpenTelemetry
 * lifecycle.
 */
function noteBeginnings(begun: string[]): AgentLifecycle {
  return {
    priority: 99,
    beforeAgent: () => void begun.push('invoke_agent'),
    wrapModelCall: (_request, next) => {
      begun.push('chat');
      return next();
    },
    wrapToolCall: (_call, next) => {
      begun.push('execute_tool');
      return next();
    },
  };
}

function forever(): Promise<never> {
  return new Promise(() => {});
}

describe('suspension', () => {
  test('the run and the waiting call are marked as suspended, not as failed', async () => {
    const gate: AgentLifecycle = {
      wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('wait')),
    };
    const agent = createAgent([calls('add', { a: 1, b: 2 }), says('Three.')], [gate]);

    const { history, pending } = await agent.run('Hello');

    const status = () => telemetry.span('invoke_agent clerk').attributes['keelson.run.status'];
    expect(status()).toBe('suspended');
    expect(shown(telemetry.span('execute_tool add'))).toMatchObject({
      status: 'UNSET',
      attributes: { 'keelson.tool.call.status': 'suspended' },
    });
    expect(await telemetry.pointsOf('gen_ai.execute_tool.duration')).toEqual([]);

    telemetry.exporter.reset();
    await agent.run('', { messages: history, resume: { [pending[0]?.id ?? '']: 'approve' } });

    expect(telemetry.tree()).toEqual(['invoke_agent clerk', '  execute_tool add', '  chat m-1']);
    expect(status()).toBe('completed');
  });

  test('a run suspended with its answer is marked as suspended', async () => {
    await createAgent('Done.', [{ afterModel: () => HookAction.suspend('wait') }]).run('Hello');

    expect(telemetry.span('invoke_agent clerk').attributes['keelson.run.status']).toBe('suspended');
  });
});

describe('several attempts', () => {
  const retry: AgentLifecycle = { wrapModelCall: (_request, next) => next().catch(() => next()) };

  test('are one span for an outermost lifecycle, and one span each for an innermost lifecycle', async () => {
    const script = () => scriptedModel([fails(), says('Well.')], { id: 'm-1' });

    await new Agent({ model: script(), lifecycle: [retry, openTelemetry()] }).run('Hello');
    expect(telemetry.tree()).toEqual(['invoke_agent agent', '  chat m-1']);

    telemetry.exporter.reset();
    await new Agent({ model: script(), lifecycle: [retry, { ...openTelemetry(), priority: 0 }] }).run('Hello');
    expect(telemetry.tree()).toEqual(['invoke_agent agent', '  chat m-1', '  chat m-1']);
    expect(telemetry.spans.map((span) => shown(span).status)).toEqual(['ERROR', 'UNSET', 'UNSET']);
  });

  test('all count as tokens, and a response without a model call counts none', async () => {
    const twice: AgentLifecycle = { wrapModelCall: (_request, next) => next().then(() => next()) };
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    const cache: AgentLifecycle = {
      wrapModelCall: async () => ({ content: [{ type: 'text', text: 'Known.' }], finishReason: 'stop', usage }),
    };

    await createAgent(['One.', 'Two.'], [twice]).run('Hello');
    expect(telemetry.span('chat m-1').attributes['gen_ai.usage.input_tokens']).toBe(20);

    telemetry.exporter.reset();
    await createAgent([], [cache]).run('Hello');
    expect(telemetry.span('chat m-1').attributes['gen_ai.usage.input_tokens']).toBe(0);
  });
});

test('measures durations with the clock of the run', async () => {
  let now = 1_000;
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  const clock: Clock = { now: () => now, setTimeout: start, clearTimeout: (timer) => clear(timer as never) };
  const model = scriptedModel([delays(0, 'Hello.')], { clock });
  const tick: AgentLifecycle = {
    wrapModelCall: (_request, next) => {
      now += 2_500;
      return next();
    },
  };

  await new Agent({ name: 'clerk', model, clock, lifecycle: [tick, openTelemetry()] }).run('Hello');

  for (const name of ['gen_ai.client.inference.duration', 'gen_ai.client.operation.duration']) {
    expect((await telemetry.pointsOf(name)).map(({ sum }) => sum)).toEqual([2.5]);
  }
  expect((await telemetry.pointsOf('gen_ai.invoke_agent.duration')).map(({ sum }) => sum)).toEqual([2.5]);
});
