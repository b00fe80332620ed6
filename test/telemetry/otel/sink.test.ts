import { metrics } from '@opentelemetry/api';
import { Agent, defineTool } from 'keelson';
import { openTelemetry, otelMetrics } from 'keelson/otel';
import { calls, fails, says, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry();
});

afterEach(() => telemetry.close());

const echo = defineTool({
  ...{ name: 'echo', description: 'Says it again.', input: z.object({}) },
  execute: () => 'Again.',
});

const CALL = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const RUN = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const TOKENS = [
  ...[1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
];

describe('the metrics of runs', () => {
  const run = async (script: Parameters<typeof scriptedModel>[0]) => {
    const model = scriptedModel(script, { id: 'm', provider: 'acme' });
    const agent = new Agent({ name: 'clerk', model, tools: [echo], lifecycle: [openTelemetry()] });
    await agent.run('Hello').catch(() => {});
  };

  test('match the conventions, with units, boundaries and attributes', async () => {
    telemetry.register();

    await run([calls({ name: 'echo', input: {} }, { name: 'made_up', input: {} }), says('Done.')]);

    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'acme', 'gen_ai.request.model': 'm' };
    const tool = { 'gen_ai.tool.type': 'function', 'gen_ai.agent.name': 'clerk' };
    const failed = { 'gen_ai.tool.name': '_OTHER', 'error.type': 'tool_error' };
    const used = { ...chat, 'gen_ai.token.modality': 'unknown' };
    const points = await telemetry.points();
    const twice = { count: 2, attributes: chat };
    expect(points.map(({ name, unit, count, attributes }) => ({ name, unit, count, attributes }))).toEqual([
      { name: 'gen_ai.client.inference.duration', unit: 's', ...twice },
      { name: 'gen_ai.client.operation.duration', unit: 's', ...twice },
      { name: 'gen_ai.client.inference.operation.input_tokens', unit: '{token}', ...twice },
      ...['input', 'output'].map((type) => ({
        ...{ name: 'gen_ai.client.token.usage', unit: '{token}', count: 2 },
        attributes: { ...chat, 'gen_ai.token.type': type },
      })),
      { name: 'gen_ai.client.inference.operation.output_tokens', unit: '{token}', ...twice },
      { name: 'gen_ai.client.inference.usage.input_tokens', unit: '{token}', count: undefined, attributes: used },
      { name: 'gen_ai.client.inference.usage.output_tokens', unit: '{token}', count: undefined, attributes: used },
      {
        ...{ name: 'gen_ai.execute_tool.duration', unit: 's', count: 1 },
        attributes: { ...tool, 'gen_ai.tool.name': 'echo' },
      },
      {
        ...{ name: 'gen_ai.execute_tool.duration', unit: 's', count: 1 },
        attributes: { ...tool, ...failed },
      },
      {
        ...{ name: 'gen_ai.invoke_agent.duration', unit: 's', count: 1 },
        attributes: { 'gen_ai.agent.name': 'clerk' },
      },
    ]);
    const byName = Object.fromEntries(points.map(({ name, buckets }) => [name, buckets?.boundaries]));
    expect(byName).toEqual({
      'gen_ai.client.inference.duration': CALL,
      'gen_ai.client.inference.operation.input_tokens': TOKENS,
      'gen_ai.client.inference.operation.output_tokens': TOKENS,
      'gen_ai.client.inference.usage.input_tokens': undefined,
      'gen_ai.client.inference.usage.output_tokens': undefined,
      'gen_ai.client.operation.duration': CALL,
      'gen_ai.client.token.usage': TOKENS,
      'gen_ai.execute_tool.duration': CALL,
      'gen_ai.invoke_agent.duration': RUN,
    });
    const tokens = points.filter(({ unit }) => unit === '{token}');
    expect(tokens.map(({ sum, value }) => sum ?? value)).toEqual([20, 20, 10, 10, 20, 10]);
  });

  test('count cached tokens, written ones and those of reasoning', async () => {
    telemetry.register();
    const counts = { cachedInputTokens: 2, cacheWriteTokens: 4, reasoningTokens: 1 };

    await run([says('Done.', { usage: { inputTokens: 7, outputTokens: 3, ...counts } })]);

    const used = (await telemetry.points()).filter(({ name }) => name.startsWith('gen_ai.client.inference.usage.'));
    expect(Object.fromEntries(used.map(({ name, value }) => [name.slice(30), value]))).toEqual({
      input_tokens: 7,
      output_tokens: 3,
      'cache_read.input_tokens': 2,
      'cache_write.input_tokens': 4,
      'reasoning.output_tokens': 1,
    });
  });

  test('have the error type as an attribute', async () => {
    telemetry.register();

    await run([fails(Object.assign(new Error('busy'), { status: 503 }))]);

    const [chat] = await telemetry.pointsOf('gen_ai.client.operation.duration');
    const [agent] = await telemetry.pointsOf('gen_ai.invoke_agent.duration');
    expect([chat?.attributes['error.type'], agent?.attributes['error.type']]).toEqual(['503', '503']);
    expect((await telemetry.points()).filter(({ unit }) => unit === '{token}')).toEqual([]);
  });

  test('are recorded as soon as a global provider is set', async () => {
    const model = scriptedModel(() => says('Done.'));
    const agent = new Agent({ model, lifecycle: [openTelemetry()] });

    await agent.run('Into the void');
    telemetry.register();
    await agent.run('Hello');

    expect((await telemetry.pointsOf('gen_ai.invoke_agent.duration')).map(({ count }) => count)).toEqual([1]);
    expect(telemetry.tree()).toEqual(['invoke_agent agent', '  chat scripted']);
  });
});

describe('otelMetrics', () => {
  const fill = (sink: ReturnType<typeof otelMetrics>) => {
    sink.counter('cache_hits', 1, { store: 'redis' });
    sink.counter('cache_hits', 2, { store: 'redis' });
    sink.counter('sent_bytes', 512, {});
    sink.histogram('hook_duration_ms', 12, { extension_id: 'notes' });
    sink.histogram('__proto__', 3, {});
  };
  const filled = [
    { name: '__proto__', unit: '', attributes: {}, value: 3 },
    { name: 'cache_hits', unit: '', attributes: { store: 'redis' }, value: 3 },
    { name: 'hook_duration_ms', unit: 'ms', attributes: { extension_id: 'notes' }, value: 12 },
    { name: 'sent_bytes', unit: 'By', attributes: {}, value: 512 },
  ];
  const read = async () =>
    (await telemetry.points())
      .map(({ name, unit, attributes, value, sum }) => ({ name, unit, attributes, value: sum ?? value }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));

  test('passes on names and labels unchanged, with a unit derived from the name', async () => {
    fill(otelMetrics({ meterProvider: telemetry.meterProvider }));

    expect(await read()).toEqual(filled);
  });

  test("has boundaries up to the maximum size of a session's state", async () => {
    const sink = otelMetrics({ meterProvider: telemetry.meterProvider });
    for (const bytes of [9_000, 11_000, 900_000, 9_000_000]) sink.histogram('size_bytes', bytes, {});

    const [point] = await telemetry.pointsOf('size_bytes');
    expect(point?.buckets.counts.filter((count) => count > 0)).toEqual([2, 1, 1]);
  });

  test('accepts a meter, and defaults to the current global provider', async () => {
    const sink = otelMetrics();
    fill(sink);
    fill(otelMetrics({ meter: telemetry.meterProvider.getMeter('mine') }));
    const once = await read();
    metrics.setGlobalMeterProvider(telemetry.meterProvider);
    sink.counter('cache_hits', 10, { store: 'redis' });

    expect(once.map(({ value }) => value)).toEqual([3, 3, 12, 512]);
    expect((await telemetry.pointsOf('cache_hits')).map(({ value }) => value).sort()).toEqual([10, 3]);
  });

  test.each<[string, unknown, string]>([
    ['an unknown option', { meters: {} }, 'meters'],
    ['an invalid meter provider', { meterProvider: {} }, 'meterProvider.getMeter'],
    ['an invalid meter', { meter: 'mine' }, 'meter'],
    ['null', null, 'options'],
  ])('refuses %s', (_what, options, option) => {
    expect(() => otelMetrics(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }),
    );
  });
});
