import fc from 'fast-check';
import { Agent, type AgentLifecycle, defineTool, type UserMessage } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls, fails, responds, says, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { boundedJson, messagesJson } from '../../../src/telemetry/otel/content.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry();
});

afterEach(() => telemetry.close());

const echo = defineTool({
  ...{ name: 'echo', description: 'Says it again.', input: z.object({ text: z.string() }) },
  execute: ({ text }) => text,
});

function createAgent(
  script: Parameters<typeof scriptedModel>[0],
  options: { content?: boolean; contentLimit?: number },
) {
  const { tracerProvider, meterProvider } = telemetry;
  const otel: AgentLifecycle = openTelemetry({ tracerProvider, meterProvider, ...options });
  const model = scriptedModel(script, { id: 'm' });
  return new Agent({ model, tools: [echo], instructions: 'Obey SECRET.', lifecycle: [otel] });
}

const script = () => [calls('echo', { text: 'SECRET args' }), says('The SECRET answer.')];
const allText = () =>
  JSON.stringify(telemetry.spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]));
const parsed = (span: number, key: string) => JSON.parse(String(telemetry.spans[span]?.attributes[key]));

describe('without `content`', () => {
  test('no message content appears in a span or a metric', async () => {
    await createAgent(script(), {}).run('The SECRET question');
    await createAgent([fails(new Error('SECRET failure'))], {})
      .run('Hello')
      .catch(() => {});
    await createAgent([calls({ name: 'SECRET tool', invalidInput: 'SECRET {' }), says('So be it.')], {}).run('Hello');

    expect(telemetry.spans).toHaveLength(10);
    expect(allText()).not.toContain('SECRET');
    expect(JSON.stringify(await telemetry.points())).not.toContain('SECRET');
  });
});

describe('with `content`', () => {
  test('spans contain the messages in the form of the conventions', async () => {
    await createAgent(script(), { content: true }).run('The question');

    const user = { role: 'user', parts: [{ type: 'text', content: 'The question' }] };
    const call = { type: 'tool_call', id: 'call_1', name: 'echo', arguments: { text: 'SECRET args' } };
    const response = { type: 'tool_call_response', id: 'call_1', response: 'SECRET args' };
    const answer = { role: 'assistant', parts: [{ type: 'text', content: 'The SECRET answer.' }] };
    expect(parsed(0, 'gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'Obey SECRET.' }]);
    expect(parsed(0, 'gen_ai.tool.definitions')).toEqual([
      { type: 'function', name: 'echo', description: echo.description, parameters: echo.inputSchema },
    ]);
    expect(parsed(0, 'gen_ai.input.messages')).toEqual([user]);
    expect(parsed(0, 'gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [call], finish_reason: 'tool_call' },
    ]);
    expect(parsed(1, 'gen_ai.tool.call.arguments')).toEqual({ text: 'SECRET args' });
    expect(telemetry.spans[1]?.attributes['gen_ai.tool.call.result']).toBe('SECRET args');
    expect(parsed(2, 'gen_ai.input.messages')).toEqual([
      ...[user, { role: 'assistant', parts: [call] }, { role: 'tool', parts: [response] }],
    ]);
    expect(parsed(3, 'gen_ai.input.messages')).toEqual([user]);
    expect(parsed(3, 'gen_ai.output.messages')).toEqual([{ ...answer, finish_reason: 'stop' }]);
  });

  test('an innermost lifecycle records the request as changed by outer lifecycles', async () => {
    const redact: AgentLifecycle = {
      beforeAgent: (input) => input.replaceAll('SECRET', '***'),
      wrapModelCall: (request, next) => next({ ...request, messages: request.messages.slice(1) }),
    };
    const { tracerProvider } = telemetry;
    const otel = { ...openTelemetry({ tracerProvider, content: true }), priority: 0 };
    const model = scriptedModel(['Done.']);
    const agent = new Agent({ model, instructions: 'Obey SECRET.', lifecycle: [otel, redact] });

    await agent.run('The SECRET question');

    expect(parsed(0, 'gen_ai.input.messages')[0].parts[0].content).toBe('The *** question');
    expect(allText()).not.toContain('SECRET');
  });

  test('errors are recorded with message and stack', async () => {
    await createAgent([fails(new Error('SECRET failure'))], { content: true })
      .run('Hello')
      .catch(() => {});

    const [chat] = telemetry.spans;
    expect(chat?.status.message).toBe('Model "m" failed: SECRET failure');
    expect(chat?.events[0]?.attributes).toMatchObject({
      'exception.type': 'ModelError',
      'exception.message': 'Model "m" failed: SECRET failure',
      'exception.stacktrace': expect.stringContaining('at '),
    });
  });

  test('the error that a tool threw is recorded with message and stack', async () => {
    const fail = () => {
      throw new RangeError('SECRET');
    };
    await createAgent([calls('fail', {}), says('ok')], { content: true }).run('Hello', {
      tools: [toolOf('fail', fail)],
    });

    const tool = telemetry.spans.find(({ name }) => name === 'execute_tool fail');
    expect(tool?.events[0]?.attributes).toMatchObject({
      'exception.type': 'RangeError',
      'exception.message': 'SECRET',
      'exception.stacktrace': expect.stringMatching(/^RangeError: SECRET\n +at /),
    });
  });

  test('images, files, reasoning and unknown parts are recorded with their type, without bytes', async () => {
    const input: UserMessage = {
      role: 'user',
      content: [
        { type: 'image', image: 'https://example.com/a.png' },
        { type: 'image', image: new Uint8Array([1, 2]), mediaType: 'image/png' },
        { type: 'file', data: 'AAAA', mediaType: 'application/pdf' },
        { type: 'file', data: 'https://example.com/a.mp3', mediaType: 'audio/mpeg' },
      ],
    };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const content = [{ type: 'reasoning', text: 'Hm.' }, { type: 'source' }, { type: 'text', text: 'Nice.' }];
    await createAgent([responds({ content, finishReason: 'stop', usage })], { content: true }).run(input);

    expect(parsed(0, 'gen_ai.input.messages')[0].parts).toEqual([
      { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
      { type: 'blob', modality: 'image', mime_type: 'image/png', content: '' },
      { type: 'blob', modality: 'document', mime_type: 'application/pdf', content: '' },
      { type: 'uri', modality: 'audio', mime_type: 'audio/mpeg', uri: 'https://example.com/a.mp3' },
    ]);
    expect(parsed(0, 'gen_ai.output.messages')[0].parts).toEqual([
      { type: 'reasoning', content: 'Hm.' },
      { type: 'source' },
      { type: 'text', content: 'Nice.' },
    ]);
  });

  test('no attribute is longer than `contentLimit`', async () => {
    const long = 'x'.repeat(100_000);
    const contentLimit = 300;
    await createAgent([calls('echo', { text: long }), says(long)], { content: true, contentLimit }).run(long);

    const texts = telemetry.spans.flatMap(({ attributes }) => Object.values(attributes)).map(String);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(contentLimit);
    expect(parsed(0, 'gen_ai.input.messages')[0].parts[0].content).toMatch(/^x+…$/);
    expect(parsed(1, 'gen_ai.tool.call.arguments').text).toMatch(/^x+…$/);
  });
});

describe('content over the limit', () => {
  test('drops the oldest messages first', () => {
    const messages = ['old', 'newer', 'newest'].map((content) => ({ role: 'user', content }) as const);

    const kept: { parts: { content: string }[] }[] = JSON.parse(messagesJson(messages, 140));
    expect(kept.map(({ parts }) => parts[0]?.content)).toEqual(['newer', 'newest']);
    expect(messagesJson([], 140)).toBe('[]');
  });

  test('never cuts a string inside a surrogate pair, which would be invalid UTF-8', async () => {
    for (const contentLimit of [64, 65]) {
      await createAgent([calls('echo', { text: '😀'.repeat(99) }), fails(new Error('😀'.repeat(99)))], {
        content: true,
        contentLimit,
      })
        .run('😀'.repeat(99))
        .catch(() => {});
    }
    const texts = telemetry.spans.flatMap(({ attributes, events, status }) => [
      ...Object.values(attributes),
      ...events.flatMap((event) => Object.values(event.attributes ?? {})),
      status.message,
    ]);

    expect(texts.filter((text) => typeof text === 'string' && text.includes('😀')).length).toBeGreaterThan(8);
    for (const text of texts) expect(() => encodeURIComponent(String(text))).not.toThrow();
  });

  test('shortens any value to the limit, and keeps valid JSON if only its strings are long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 64, max: 500 }), (value, limit) => {
        expect(boundedJson(value, limit).length).toBeLessThanOrEqual(limit);
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 5_000 }), fc.integer({ min: 64, max: 500 }), (text, limit) => {
        const messages = [{ role: 'user', content: text }] as const;
        expect(() => JSON.parse(messagesJson(messages, limit + 40))).not.toThrow();
        expect(messagesJson(messages, limit + 40).length).toBeLessThanOrEqual(limit + 40);
      }),
    );
  });

  test('serializes a value that JSON cannot express as null', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;

    expect(boundedJson(undefined, 64)).toBe('null');
    expect(boundedJson({ big: 1n }, 64)).toBe('{"big":"1"}');
    expect(boundedJson(cyclic, 64)).toBe('null');
  });
});
