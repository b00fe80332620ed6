import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { createOpenAI as createOpenAIv3 } from 'ai-sdk-openai-v3';
import { Agent, defineTool } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
import { customTool, openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { replyWith } from '../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';
import { message, type ResponseItem, responseOf } from '../../support/providers/responses-reply.js';

const providers = [
  ['v2', createOpenAIv2],
  ['v3', createOpenAIv3],
] as const;

const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed', summary: [] };
const called = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'date',
  arguments: '{}',
  status: 'completed',
};
const search = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'today' },
};
const whole = (...items: readonly ResponseItem[]) => responseOf(items);
const streamed = (...items: readonly ResponseItem[]) => responseOf(items, { stream: true });

const date = defineTool({ name: 'date', description: 'Today.', input: z.object({}), execute: () => '2026-01-01' });
const settings = { providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } } };

describe.each(providers)('a responses model of specification %s', (_version, createOpenAI) => {
  const make = (baseURL: string) =>
    aiSdk(createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-5-mini'), { maxRetries: 0 });

  test.each(['whole', 'streamed'])('%s, gets its reasoning back with its calls', async (how) => {
    const reply = how === 'whole' ? whole : streamed;
    await using server = await startOpenAIServer([reply(reasoning, called), reply(message('New Year.'))]);
    const agent = new Agent({ model: make(server.baseURL), tools: [date], settings });

    const result = await (how === 'whole' ? agent.run('When?') : agent.stream('When?').result);

    expect(result.text).toBe('New Year.');
    expect(result.usage).toEqual({
      inputTokens: 24,
      outputTokens: 10,
      totalTokens: 34,
      cachedInputTokens: 8,
      reasoningTokens: 6,
    });
    expect(server.requests[1]?.body.input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'sealed' },
      { type: 'function_call', call_id: 'call_1', name: 'date', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: '2026-01-01' },
    ]);
  });

  test('does not execute calls that the provider executed, and gets a reference to them', async () => {
    await using server = await startOpenAIServer([
      whole(reasoning, search, message('Monday.')),
      whole(message('Again.')),
    ]);
    const { tools, responses } = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' });
    const model = aiSdk(responses('gpt-5-mini'), { providerTools: { web_search: tools.webSearch({}) } });
    const session = await new Agent({ model }).session();

    const { text, messages } = await session.run('Which day?');
    await session.run('Again?');

    expect(text).toBe('Monday.');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(messages[1]?.content).toMatchObject([
      { type: 'reasoning' },
      { type: 'tool-call', id: 'ws_1', name: 'web_search', providerExecuted: true },
      { type: 'tool-result', id: 'ws_1', name: 'web_search' },
      { type: 'text', text: 'Monday.' },
    ]);
    expect(server.requests[0]?.body.tools).toMatchObject([{ type: 'web_search' }]);
    const input = server.requests[1]?.body.input as { readonly id?: string }[];
    expect(input.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual(['rs_1', 'ws_1', 'msg_1']);
  });

  test('that fails in its stream rejects with the message of the server', async () => {
    const error = { type: 'server_error', code: 'server_error', message: 'Try later.', param: null };
    await using server = await startOpenAIServer([
      { chunks: [{ type: 'error', sequence_number: 0, error }], end: 'silent' },
    ]);
    const agent = new Agent({ model: make(server.baseURL) });

    const failure = await agent.stream('Hello').result.catch((thrown: unknown) => thrown);

    expect(failure).toMatchObject({ retryable: true, cause: { message: expect.stringContaining('Try later.') } });
  });
});

test('a conversation continues at another provider without the parts that only the first provider understands', async () => {
  await using server = await startOpenAIServer((body, index) =>
    index === 0 ? whole(reasoning, message('Monday.')) : replyWith({ text: 'Tuesday.' }, body),
  );
  const { baseURL } = server;
  const provider = createOpenAIv3({ baseURL, apiKey: 'k' });
  const first = await new Agent({ model: aiSdk(provider.responses('gpt-5-mini')), settings }).run('Which day?');

  await new Agent({ model: aiSdk(provider.chat('gpt-4o')) }).run('And?', { messages: first.history });
  await new Agent({ model: openai('m', { baseURL }) }).run('And?', { messages: first.history });

  const sent = [
    { role: 'user', content: 'Which day?' },
    { role: 'assistant', content: 'Monday.' },
    { role: 'user', content: 'And?' },
  ];
  expect(server.requests.slice(1).map(({ body }) => body.messages)).toEqual([sent, sent]);
});

describe('tools of OpenAI', () => {
  const client = (baseURL: string) => createOpenAIv3({ baseURL, apiKey: 'k' });
  const input = (server: { readonly requests: readonly { readonly body: Record<string, unknown> }[] }) =>
    ((server.requests[1]?.body.input ?? []) as readonly object[]).slice(1);

  test.each(['whole', 'streamed'])(
    'a request for approval suspends the call until `resume` decides, %s',
    async (how) => {
      const request = {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        name: 'erase',
        arguments: '{"page":7}',
        server_label: 'docs',
      };
      const reply = how === 'whole' ? whole : streamed;
      for (const decision of ['approve', { deny: 'Not today.' }] as const) {
        await using server = await startOpenAIServer([reply(request), reply(message('Done.'))]);
        const { tools, responses } = client(server.baseURL);
        const providerTools = {
          docs: tools.mcp({ serverLabel: 'docs', serverUrl: 'https://docs.example/', requireApproval: 'always' }),
        };
        const session = await new Agent({ model: aiSdk(responses('gpt-5'), { providerTools }) }).session();
        const run = (text: string, options = {}) =>
          how === 'whole' ? session.run(text, options) : session.stream(text, options).result;

        const { status, pending } = await run('Erase page 7.');
        const id = pending[0]?.id ?? '';
        const result = await run('', { resume: { [id]: decision } });

        expect(status).toBe('suspended');
        expect(pending).toMatchObject([{ name: 'mcp.erase', input: { page: 7 }, needsApproval: true }]);
        expect(result.text).toBe('Done.');
        expect(input(server)).toContainEqual(
          expect.objectContaining({
            ...{ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: decision === 'approve' },
          }),
        );
      }
    },
  );

  test.each(['{"a":1}', '42', 'SELECT "1"'])(
    'a custom tool gets the string %s, which goes back unchanged',
    async (text) => {
      const called = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'sql', input: text };
      await using server = await startOpenAIServer([whole(called), whole(message('Done.'))]);
      const { tools, responses } = client(server.baseURL);
      const inputs: string[] = [];
      const sql = customTool({ name: 'sql', description: 'SQL.', execute: (given) => String(inputs.push(given)) });
      const model = aiSdk(responses('gpt-5'), {
        providerTools: { sql: tools.customTool({ name: 'sql', description: 'SQL.' }) },
      });

      await new Agent({ model, tools: [sql], settings }).run('Count.');

      expect(inputs).toEqual([text]);
      expect(input(server)).toMatchObject([
        { type: 'custom_tool_call', call_id: 'call_1', input: text },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' },
      ]);
    },
  );

  test.each([
    ['data', { status: 'failed', output: 'No file.' }, { status: 'failed', output: 'No file.' }],
    ['text', 'Patched.', { status: 'completed', output: 'Patched.' }],
  ])('a result of %s of a tool that the application runs goes back as JSON', async (_title, result, output) => {
    const operation = { type: 'delete_file', path: 'a.md' };
    const called = { type: 'apply_patch_call', id: 'apc_1', call_id: 'call_1', status: 'completed', operation };
    await using server = await startOpenAIServer([whole(called), whole(message('Done.'))]);
    const { tools, responses } = client(server.baseURL);
    const patch = defineTool({
      name: 'apply_patch',
      description: 'P.',
      input: { type: 'object' },
      execute: () => result,
    });
    const model = aiSdk(responses('gpt-5.1'), { providerTools: { apply_patch: tools.applyPatch({}) } });

    await new Agent({ model, tools: [patch], settings }).run('Patch.');

    expect(input(server)).toMatchObject([
      { type: 'apply_patch_call', operation },
      { type: 'apply_patch_call_output', call_id: 'call_1', ...output },
    ]);
  });
});
