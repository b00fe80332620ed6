import { Agent, type AgentEvent, defineTool } from 'keelson';
import { openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writesCalls } from '../../../../src/providers/openai/chat/written-calls.js';
import { keepingLogger } from '../../../support/agent/silent-logger.js';
import { streamedExchange } from '../../../support/providers/openai-exchange.js';
import { chunk, completionOf, replyWith } from '../../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../../support/providers/openai-server.js';

const ran: unknown[] = [];
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  execute: (input) => {
    ran.push(input);
    return 'red';
  },
});
const called = { toolCalls: [{ id: 'k', name: 'look', arguments: '{"at":"it"}' }] };

describe('an answer without text', () => {
  test.each([
    ['stop', 'empty'],
    ['MALFORMED_FUNCTION_CALL', 'tool-format'],
    ['malformed_function_call: {"x"', 'tool-format'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'tool-format'],
    ['UNEXPECTED_TOOL_CALL', 'tool-format'],
    ['TOO_MANY_TOOL_CALLS', 'tool-format'],
  ])('with the finish reason %s is asked for again, as %s', async (finishReason, kind) => {
    const answers = [called, { text: '', finishReason }, { text: 'It is red.' }];
    await using server = await startOpenAIServer((_body, index) => ({ json: completionOf(answers[index] ?? {}) }));
    const model = openai('gemini-3', { baseURL: server.baseURL, maxRetries: 0 });

    const result = await new Agent({ model, tools: [look], logger: keepingLogger() }).run('What colour?');

    expect([result.text, result.turns]).toEqual(['It is red.', 3]);
    const said = kind === 'empty' ? /answer was empty/ : /The tool call was refused/;
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toMatch(said);
  });
});

test('`[DONE]` behind a finish reason of null is the end of an answer', async () => {
  const { response } = await streamedExchange({ chunks: [chunk({ content: 'Hello' }), chunk({ content: '!' })] });

  expect(response).toMatchObject({ content: [{ type: 'text', text: 'Hello!' }] });
});

describe('a tool call that is written as text', () => {
  const written = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>';
  const play = async (text: string, { streams = false, tools = [look] } = {}) => {
    await using server = await startOpenAIServer((body, index) =>
      replyWith({ text: index === 0 ? text : 'Red.' }, body),
    );
    const agent = new Agent({ model: openai('qwen', { baseURL: server.baseURL, maxRetries: 0 }), tools });
    ran.length = 0;
    const events: AgentEvent[] = [];
    if (!streams) return { result: await agent.run('go'), events, ran: [...ran] };
    const stream = agent.stream('go');
    for await (const event of stream) events.push(event);
    return { result: await stream.result, events, ran: [...ran] };
  };

  test.each([
    ['alone', written, 1],
    ['with the names of other models', '<tool_call>{"name":"look","args":{"at":"it"}}</tool_call>', 1],
    ['twice', `${written}\n${written}\n`, 2],
  ])('%s is run', async (_title, text, count) => {
    const { result, ran } = await play(text);

    expect(ran).toEqual(Array.from({ length: count }, () => ({ at: 'it' })));
    expect([result.text, result.turns]).toEqual(['Red.', 2]);
    expect(result.messages[1]?.content).toMatchObject(
      Array.from({ length: count }, () => ({ type: 'tool-call', name: 'look' })),
    );
  });

  test.each([
    ['beside other text', `I call it now: ${written}`],
    ['in a quotation', `${written}\nis how a call looks.`],
    ['of a tool that is not offered', written.replace('look', 'erase')],
    ['beside a call of a tool that is not offered', written + written.replace('look', 'erase')],
    ['with broken arguments', written.replace('}}', '}')],
    ['without its end', written.replace('</tool_call>', '')],
  ])('%s stays text', async (_title, text) => {
    const { result, ran } = await play(text);

    expect([ran, result.text]).toEqual([[], text]);
  });

  test('is not shown in a stream, and other text is', async () => {
    const textOf = (events: readonly AgentEvent[]) =>
      events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

    expect(textOf((await play(written, { streams: true })).events)).toBe('Red.');
    expect(textOf((await play('<tool_calling is fun', { streams: true })).events)).toBe('<tool_calling is fun');
    expect(textOf((await play('<tool_call> is a tag', { streams: true })).events)).toBe('<tool_call> is a tag');
  });

  test.each([
    ['http://localhost:11434/v1', true],
    ['http://192.168.1.7:8000/v1', true],
    ['https://openrouter.ai/api/v1', true],
    ['https://api.openai.com/v1', false],
    ['https://api.deepseek.com', false],
    ['https://localhost.evil.com/v1', false],
    ['https://10.evil.com/v1', false],
    [undefined, false],
  ])('is looked for at %s: %s', (baseURL, expected) => {
    expect(writesCalls(baseURL)).toBe(expected);
  });
});
