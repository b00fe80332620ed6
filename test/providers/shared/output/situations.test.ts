import { createOpenAI } from 'ai-sdk-openai-v3';
import { Agent, defineTool, type Model, type OutputInvalidError } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
import { anthropic } from 'keelson/anthropic';
import { openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Adapter, adapters, type Said } from '../../../support/providers/adapters.js';
import { type Reply, type RequestBody, startOpenAIServer } from '../../../support/providers/openai-server.js';

type Fields = Readonly<Record<string, unknown>>;

/** The tools and the schema in a request. */
interface Asked {
  readonly names: readonly string[];
  readonly schema: Fields | undefined;
  readonly isForced: boolean;
  readonly text: string;
}

const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;

function askedIn(body: RequestBody): Asked {
  const { tools = [], tool_choice: choice, response_format, text, output_config } = body;
  const fields = (tools as readonly Fields[]).map((tool) => fieldsOf(tool.function ?? tool));
  const formats = [fieldsOf(response_format).json_schema, fieldsOf(text).format, fieldsOf(output_config).format];
  const answer = fieldsOf(fields.find(({ name }) => name === 'final_answer'));
  const schemas = [...formats.map((format) => fieldsOf(format).schema), answer.parameters, answer.input_schema];
  return {
    names: fields.map(({ name }) => String(name)),
    schema: schemas.find(Boolean) as Fields | undefined,
    isForced: choice !== undefined && choice !== 'auto' && choice !== 'none',
    text: JSON.stringify(body.messages ?? body.input) + JSON.stringify(body.system ?? ''),
  };
}

/** A service as its documentation and its users describe it. */
interface Service {
  readonly protocol: Adapter;
  readonly model: (baseURL: string) => Model;
  /** Returns the reason of a refusal. */
  readonly refuses?: (asked: Asked) => string | false;
  /** True if a schema keeps the model from calling tools. */
  readonly schemaStopsTools?: boolean;
  /** The text that the model writes around its answer. */
  readonly around?: readonly [before: string, after: string];
  /** The requests without tools, and with tools. */
  readonly sent: readonly [alone: string, withTools: string];
}

const protocolOf = (name: string) => adapters.find((adapter) => adapter.name === name) as Adapter;
const chat = protocolOf('keelson/openai');
const isRootRefused = ({ schema }: Asked) =>
  schema !== undefined &&
  schema.type !== 'object' &&
  `Invalid schema for response_format 'output': got 'type: "${schema.type}"'.`;

const services: Readonly<Record<string, Service>> = {
  'OpenAI, responses': {
    protocol: protocolOf('keelson/openai, responses'),
    model: (baseURL) => openai('gpt-5', { baseURL, api: 'responses', outputMode: 'native', maxRetries: 0 }),
    refuses: isRootRefused,
    sent: ['schema', 'tools schema, tools schema'],
  },
  'OpenAI, chat': {
    protocol: chat,
    model: (baseURL) => openai('gpt-5', { baseURL, outputMode: 'native', maxRetries: 0 }),
    refuses: isRootRefused,
    sent: ['schema', 'tools schema, tools schema'],
  },
  'Groq, which refuses a schema beside tools': {
    protocol: chat,
    model: (baseURL) => openai('llama', { baseURL, outputMode: 'native', maxRetries: 0 }),
    refuses: ({ names, schema }) =>
      names.length > 0 && schema !== undefined && 'json mode cannot be combined with tool/function calling',
    sent: ['schema', 'tools schema, tools, tools, schema'],
  },
  'Ollama, whose schema stops tools': {
    protocol: chat,
    model: (baseURL) => openai('llama', { baseURL, maxRetries: 0 }),
    schemaStopsTools: true,
    sent: ['schema', 'tools, tools, schema'],
  },
  'DeepSeek, which takes no schema and no forced tool': {
    protocol: chat,
    model: (baseURL) => openai('deepseek-v4', { baseURL, outputMode: 'native', maxRetries: 0 }),
    refuses: ({ names, schema, isForced }) => {
      if (schema !== undefined && !names.includes('final_answer'))
        return 'This response_format type is unavailable now';
      return isForced && 'Thinking mode does not support this tool_choice';
    },
    sent: ['schema, tool, words', 'tools schema, tools, tools, schema, tools tool, tools words'],
  },
  'vLLM, whose model thinks and writes around its answer': {
    protocol: chat,
    model: (baseURL) => openai('qwen3', { baseURL, outputMode: 'tool', maxRetries: 0 }),
    around: ['<think>\nIs it {"n": 1}?\n</think>\n\nHere:\n```json\n', '\n```\n'],
    sent: ['tool', 'tools tool, tools tool'],
  },
  Anthropic: {
    protocol: protocolOf('keelson/anthropic'),
    model: (baseURL) =>
      anthropic('claude-sonnet-5', { baseURL: baseURL.replace(/\/v1$/, ''), apiKey: 'k', maxRetries: 0 }),
    sent: ['schema', 'tools schema, tools schema'],
  },
  'AI SDK': {
    protocol: protocolOf('keelson/ai-sdk, chat completions of v3'),
    model: (baseURL) => aiSdk(createOpenAI({ baseURL, apiKey: 'k' }).chat('gpt-5'), { maxRetries: 0 }),
    refuses: isRootRefused,
    sent: ['schema', 'tools schema, tools schema'],
  },
};

interface Situation {
  readonly output: z.ZodType;
  /** The answers that the model gives, in order. The last one is repeated. */
  readonly answers: readonly unknown[];
  readonly expected?: unknown;
  readonly usesTool?: boolean;
  readonly streams?: boolean;
  readonly finish?: 'length' | 'content-filter';
}

const fee = z.object({ n: z.number(), note: z.string().optional() });
const union = z.discriminatedUnion('k', [
  z.object({ k: z.literal('a'), n: z.number() }),
  z.object({ k: z.literal('b') }),
]);
const situations: Readonly<Record<string, Situation>> = {
  'an object': { output: fee, answers: [{ n: 4 }] },
  'an array': { output: z.array(z.number()), answers: [[1, 2]] },
  'an enum': { output: z.enum(['yes', 'no']), answers: ['yes'] },
  'a union': { output: union, answers: [{ k: 'a', n: 1 }] },
  'a `null` for an optional field': { output: fee, answers: [{ n: 4, note: null }], expected: { n: 4 } },
  'an object after a tool': { output: fee, answers: [{ n: 4 }], usesTool: true },
  'an array after a tool': { output: z.array(z.number()), answers: [[1, 2]], usesTool: true },
  'a streamed object': { output: fee, answers: [{ n: 4 }], streams: true },
  'a streamed array after a tool': { output: z.array(z.number()), answers: [[1, 2]], usesTool: true, streams: true },
  'an answer that is repaired': { output: fee, answers: [{ n: 'four' }, { n: 4 }], expected: { n: 4 } },
  'an answer that is cut off': { output: fee, answers: [{ n: 4 }], finish: 'length' },
  'an answer that is refused': { output: fee, answers: [{ n: 4 }], finish: 'content-filter' },
};

const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => 'It is red.' });

/** The model behind a service, which knows its answers. */
class Brain {
  readonly sent: string[] = [];
  private given = 0;

  constructor(
    private readonly service: Service,
    private readonly situation: Situation,
  ) {}

  reply(body: RequestBody): Reply {
    const asked = askedIn(body);
    const { names, text } = asked;
    const isInWords = text.includes('Answer with JSON alone') && asked.schema === undefined;
    const isTool = names.includes('final_answer');
    const parts = [names.includes('look') && 'tools', isTool ? 'tool' : asked.schema && 'schema', isInWords && 'words'];
    this.sent.push(parts.filter(Boolean).join(' '));
    const refusal = this.service.refuses?.(asked);
    if (refusal) return { status: 400, json: { error: { message: refusal, type: 'invalid_request_error' } } };
    return this.service.protocol.reply(this.say(asked, isInWords), body);
  }

  private say({ names, schema, text }: Asked, isInWords: boolean): Said {
    const { situation, service } = this;
    const mayCall = names.includes('look') && !(service.schemaStopsTools && schema !== undefined);
    if (situation.usesTool && mayCall && !text.includes('It is red.')) {
      return { toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] };
    }
    if (schema === undefined && !isInWords) return { text: 'The answer is known.' };
    if (situation.finish === 'content-filter') return { text: 'I cannot help.', finish: situation.finish };
    const answer = situation.answers[Math.min(this.given, situation.answers.length - 1)];
    this.given += 1;
    const isWrapped = Object.keys((schema?.properties ?? {}) as object).join() === 'value';
    const json = JSON.stringify(isWrapped ? { value: answer } : answer);
    if (situation.finish === 'length') return { text: json.slice(0, -2), finish: 'length' };
    if (names.includes('final_answer') && service.around === undefined) {
      return { toolCalls: [{ id: 'call_2', name: 'final_answer', arguments: json }] };
    }
    const [before, after] = service.around ?? ['', ''];
    return { text: before + json + after };
  }
}

describe.each(Object.entries(services))('%s', (_service, service) => {
  test.each(Object.entries(situations))('answers with %s', async (_situation, situation) => {
    const { output, usesTool, streams, answers, finish, expected = answers.at(-1) } = situation;
    const brain = new Brain(service, situation);
    await using server = await startOpenAIServer((body) => brain.reply(body));
    const agent = new Agent({ model: service.model(server.baseURL), tools: usesTool ? [look] : [] });
    const partial: unknown[] = [];
    const ask = async () => {
      if (!streams) return agent.run('go', { output });
      const stream = agent.stream('go', { output });
      for await (const part of stream.output) partial.push(part);
      return stream.result;
    };

    const result = await ask().catch((error: OutputInvalidError) => error);

    if (finish !== undefined) {
      expect(result).toMatchObject({ code: 'ERR_OUTPUT_INVALID', finishReason: finish });
      expect((result as Error).message).toMatch(finish === 'length' ? /was cut off/ : /was refused/);
    } else expect(result).toMatchObject({ status: 'completed', output: expected });
    if (streams) expect(partial.at(-1)).toEqual(expected);
    const [alone, withTools] = service.sent;
    const repeated = answers.length > 1 ? `, ${alone.split(', ').at(-1)}` : '';
    expect(brain.sent.join(', ')).toBe((usesTool ? withTools : alone) + repeated);
  });
});

test('there are twelve situations at eight kinds of service', () => {
  expect([Object.keys(situations).length, Object.keys(services).length]).toEqual([12, 8]);
});
