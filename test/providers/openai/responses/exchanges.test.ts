import { Agent, defineTool, MemorySessionStore, type Model } from 'keelson';
import { type OpenAIOptions, openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelPart, ModelRequest } from '../../../../src/model/model.js';
import { fakeClock } from '../../../support/agent/fake-clock.js';
import {
  type Reply,
  type RequestBody,
  type Script,
  startOpenAIServer,
} from '../../../support/providers/openai-server.js';
import { readHistories } from '../../../support/providers/responses/history.js';
import { message, responseOf } from '../../../support/providers/responses-reply.js';

const hello: ModelRequest = { messages: [{ role: 'user', content: 'Hello' }], tools: [] };
const said = (text: string, id: string) => (body: Partial<RequestBody>) =>
  responseOf([{ ...message(text), id: `msg_${id}` }], { stream: body.stream === true, id });
const refusal = (status: number, text: string, code: string | null = null): Reply => ({
  status,
  json: { error: { message: text, type: 'invalid_request_error', param: null, code } },
});

async function withServer<T>(
  script: Script,
  options: OpenAIOptions & { readonly id?: string },
  use: (model: Model, bodies: () => readonly Record<string, unknown>[]) => Promise<T>,
): Promise<T> {
  await using server = await startOpenAIServer(script);
  const { id = 'gpt-5.4', ...rest } = options;
  const model = openai(id, { baseURL: server.baseURL, apiKey: 'k', api: 'responses', maxRetries: 0, ...rest });
  // The server must stay open until the test has ended.
  const result = await use(model, () => server.requests.map(({ body }) => body));
  return result;
}

test.each(readHistories().filter((_, at) => at % 4 === 0))(
  'a stream that is cut at any event rejects: $name',
  async (history) => {
    const whole = responseOf(history.output, { stream: true }) as Extract<Reply, { readonly chunks: unknown }>;
    const events = [...(whole.chunks as Iterable<unknown>)];
    for (let count = 0; count < events.length; count += 1) {
      const cut: Reply = { chunks: events.slice(0, count), end: count % 2 === 0 ? 'silent' : 'drop' };
      await withServer(
        () => cut,
        {},
        async (model) => {
          const failure = model.generate({ ...hello, onPart: () => {} });
          await expect(failure).rejects.toMatchObject({ code: 'ERR_PROVIDER_FAILED', retryable: true });
        },
      );
    }
  },
);

describe('the option previousResponseId', () => {
  const script =
    (forgets: boolean): Script =>
    (body, index) => {
      if (forgets && index === 1)
        return refusal(400, "Previous response with id 'resp_0' not found.", 'previous_response_not_found');
      return said(`Answer ${index}.`, `resp_${index}`)(body);
    };

  test('sends only the messages after the last response, also in a later process', async () => {
    await withServer(script(false), { previousResponseId: true }, async (model, bodies) => {
      const store = new MemorySessionStore();
      const first = await new Agent({ model, instructions: 'Be brief.', store }).session({ id: 's' });
      await first.run('One?');
      await first.close();
      const second = await new Agent({ model, instructions: 'Be brief.', store }).session({ id: 's' });
      await second.stream('Two?').result;

      expect(bodies()[0]).toMatchObject({ store: true, input: [{ role: 'developer' }, { role: 'user' }] });
      expect(bodies()[1]).toMatchObject({ previous_response_id: 'resp_0' });
      expect(bodies()[1]?.input).toEqual([{ role: 'user', content: [{ type: 'input_text', text: 'Two?' }] }]);
    });
  });

  test('sends the whole conversation once if the server has deleted the response', async () => {
    await withServer(script(true), { previousResponseId: true }, async (model, bodies) => {
      const session = await new Agent({ model }).session();
      await session.run('One?');
      const { text } = await session.run('Two?');

      expect(text).toBe('Answer 2.');
      expect(bodies().map(({ previous_response_id: id }) => id)).toEqual([undefined, 'resp_0', undefined]);
      expect(bodies()[2]?.input).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]);
    });
  });

  test('sends the whole conversation if a lifecycle changed the earlier messages', async () => {
    await withServer(script(false), { previousResponseId: true }, async (model, bodies) => {
      const lifecycle = [{ name: 'edits', beforeModel: (messages: readonly object[]) => messages.slice(-1) as never }];
      const session = await new Agent({ model }).session();
      await session.run('One?');
      await new Agent({ model, lifecycle }).run('Two?', { messages: session.messages });

      expect(bodies()[1]).not.toHaveProperty('previous_response_id');
    });
  });
});

describe('background mode', () => {
  const pending = (status: string): Reply => ({ json: { id: 'resp_1', object: 'response', status, output: [] } });
  const settings = { providerOptions: { openai: { background: true } } };

  test('polls until the response is complete, by the clock of the run', async () => {
    const replies = [
      pending('queued'),
      pending('in_progress'),
      refusal(500, 'Try again.'),
      said('Done.', 'resp_1')({}),
    ];
    await using server = await startOpenAIServer((_body, index) => replies[index] ?? pending('in_progress'));
    const model = openai('gpt-5.4', { baseURL: server.baseURL, apiKey: 'k', api: 'responses' });
    const clock = fakeClock();
    const parts: ModelPart[] = [];
    const request = { ...hello, settings, run: { clock }, onPart: (part: ModelPart) => void parts.push(part) };

    const result = model.generate(request);
    while (server.requests.length < 4) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.advance(5_000);
    }

    expect(await result).toMatchObject({ content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop' });
    expect(parts).toEqual([{ type: 'text-delta', text: 'Done.' }]);
    expect(server.requests[0]?.body).toMatchObject({ background: true, store: true });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/responses',
      ...Array(3).fill('/v1/responses/resp_1'),
    ]);
  });

  test('cancels the response if the call is aborted', async () => {
    await using server = await startOpenAIServer(() => pending('queued'));
    const model = openai('gpt-5.4', { baseURL: server.baseURL, apiKey: 'k', api: 'responses' });
    const controller = new AbortController();
    const result = model.generate({ ...hello, settings, signal: controller.signal });
    while (server.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));

    controller.abort(new TypeError('Enough.'));

    await expect(result).rejects.toThrow('Enough.');
    while (!server.requests.some(({ path }) => path.endsWith('/cancel')))
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(server.requests.at(-1)?.path).toBe('/v1/responses/resp_1/cancel');
  });
});

describe('a request that the server refuses', () => {
  test('is sent without encrypted reasoning to a deployment that does not reason', async () => {
    const script: Script = (body) =>
      body.include ? refusal(400, 'Encrypted content is not supported with this model.') : said('Hi.', 'resp_1')(body);
    await withServer(script, { id: 'my-deployment' }, async (model, bodies) => {
      expect(await model.generate(hello)).toMatchObject({ content: [{ text: 'Hi.' }] });
      expect(bodies().map(({ include }) => include)).toEqual([['reasoning.encrypted_content'], undefined]);
    });
  });

  test('is sent without earlier reasoning that the server cannot decrypt', async () => {
    const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' };
    const script: Script = (body, index) => {
      if (index === 0) return responseOf([sealed, message('One.')]);
      return JSON.stringify(body.input).includes('"x"')
        ? refusal(400, 'The encrypted content for item rs_1 could not be verified.', 'invalid_encrypted_content')
        : said('Two.', 'resp_2')(body);
    };
    await withServer(script, {}, async (model) => {
      const session = await new Agent({ model }).session();
      await session.run('One?');

      expect(await session.run('Two?')).toMatchObject({ text: 'Two.' });
    });
  });

  test('names the option to change if the server has no Responses API', async () => {
    await withServer(
      () => refusal(404, 'Not Found'),
      {},
      async (model) => {
        await expect(model.generate(hello)).rejects.toThrow(`404 Not Found Use openai("gpt-5.4", { api: 'chat' }).`);
      },
    );
  });

  test.each([
    ['rate_limit_exceeded', 429, true],
    ['server_error', 500, true],
    ['invalid_prompt', undefined, false],
  ])('inside a stream with the code %s has the status %s', async (code, status, retryable) => {
    const failed = {
      type: 'response.failed',
      response: { id: 'resp_1', status: 'failed', error: { code, message: 'No.' } },
    };
    const flat = { type: 'error', code, message: 'No.', param: null, sequence_number: 3 };
    for (const event of [failed, flat, { type: 'error', error: { code, message: 'No.' } }]) {
      await withServer(
        () => ({ chunks: [event], end: 'silent' }),
        {},
        async (model) => {
          const failure = model.generate({ ...hello, onPart: () => {} });
          await expect(failure).rejects.toMatchObject({ status, retryable, message: 'No.' });
        },
      );
    }
  });
});

test('a response has its sources, citations, logprobs, service tier and usage', async () => {
  const annotations = [{ type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 0, end_index: 2 }];
  const logprobs = [{ token: 'Hi', bytes: [72, 105], logprob: -0.1, top_logprobs: [] }];
  const text = { ...message('Hi'), content: [{ type: 'output_text', text: 'Hi', annotations, logprobs }] };
  const search = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', sources: [{ type: 'url', url: 'https://a.example/' }] },
  };
  const reply = responseOf([search, text]) as { readonly json: object };
  await withServer(
    () => ({ json: { ...reply.json, service_tier: 'flex' } }),
    {},
    async (model) => {
      const response = await model.generate(hello);

      expect(response.providerMetadata?.openai).toEqual({
        ...{ id: 'resp_1', model: 'gpt-5-mini', service_tier: 'flex', annotations, logprobs: { content: logprobs } },
        sources: [{ type: 'url', url: 'https://a.example/' }],
      });
      expect(response.content.at(-1)?.providerMetadata?.openai).toMatchObject({ annotations });
      expect(response.usage).toMatchObject({
        inputTokens: 12,
        outputTokens: 5,
        cachedInputTokens: 4,
        reasoningTokens: 3,
      });
    },
  );
});

test.each([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content-filter'],
  ['other', 'other'],
])('a response that is incomplete because of %s has the finish reason %s', async (incomplete, finishReason) => {
  await withServer(
    () => responseOf([message('Hi')], { incomplete }),
    {},
    async (model) => {
      expect(await model.generate(hello)).toMatchObject({
        finishReason,
        providerMetadata: { openai: { incomplete_reason: incomplete } },
      });
    },
  );
});

test('a request merges the provider options', async () => {
  const open = defineTool({ name: 'open', description: 'Opens.', input: z.object({}), execute: () => '' });
  const strict = {
    ...open,
    name: 'strict',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    },
  };
  const providerOptions = {
    openai: {
      tools: [{ type: 'web_search' }],
      include: ['file_search_call.results'],
      reasoning: { summary: 'auto' },
      text: { verbosity: 'low' },
      service_tier: 'flex',
      parallel_tool_calls: false,
    },
  };
  await withServer(
    (body) => said('Hi.', 'r')(body),
    { tools: [{ type: 'file_search', vector_store_ids: ['v'] }], outputMode: 'native' },
    async (model, bodies) => {
      await model.generate({
        ...hello,
        tools: [open, strict],
        toolChoice: { tool: 'web_search' },
        output: { schema: { type: 'object', properties: {}, additionalProperties: false, required: [] } },
        settings: {
          reasoningEffort: 'low',
          temperature: 0.5,
          topP: 0.5,
          maxOutputTokens: 100,
          seed: 1,
          stopSequences: ['x'],
          providerOptions,
        },
      });

      expect(bodies()[0]).toEqual({
        model: 'gpt-5.4',
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
        tools: [
          expect.objectContaining({ type: 'function', name: 'open' }),
          expect.objectContaining({ type: 'function', name: 'strict', strict: true }),
          { type: 'file_search', vector_store_ids: ['v'] },
          { type: 'web_search' },
        ],
        tool_choice: { type: 'web_search' },
        max_output_tokens: 100,
        text: {
          format: { type: 'json_schema', name: 'output', schema: expect.anything(), strict: true },
          verbosity: 'low',
        },
        reasoning: { effort: 'low', summary: 'auto' },
        include: ['file_search_call.results', 'reasoning.encrypted_content', 'web_search_call.action.sources'],
        store: false,
        service_tier: 'flex',
        parallel_tool_calls: false,
      });
    },
  );
});
