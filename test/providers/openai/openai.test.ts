import { Agent } from 'keelson';
import { customTool, type OpenAIClient, openai } from 'keelson/openai';
import { expect, test } from 'vitest';
import { replyWith } from '../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../support/providers/openai-server.js';
import { message, responseOf } from '../../support/providers/responses-reply.js';

/** A client that records the API of each request. */
function clientAt(baseURL: string | undefined, used: string[], hasResponses = true): OpenAIClient {
  const completion = { choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] };
  const create = (api: string, answer: object) => () => {
    used.push(api);
    return Promise.resolve(answer);
  };
  const { json } = responseOf([message('Hi.')]) as { readonly json: object };
  return {
    baseURL,
    chat: { completions: { create: create('chat', completion) } },
    ...(hasResponses && { responses: { create: create('responses', json) } }),
  };
}

const hello = { messages: [{ role: 'user', content: 'Hello' }], tools: [] } as const;

test.each([
  ['https://api.openai.com/v1', 'gpt-5.4', 'responses'],
  ['https://eu.api.openai.com/v1', 'gpt-4.1', 'responses'],
  ['https://me.openai.azure.com/openai', 'my-deployment', 'responses'],
  ['https://me.services.ai.azure.com/openai/v1', 'gpt-5.4', 'responses'],
  ['https://api.openai.com/v1', 'gpt-4o-audio-preview', 'chat'],
  ['https://api.openai.com/v1', 'gpt-4o-mini-search-preview', 'chat'],
  ['http://localhost:11434/v1', 'llama3.2', 'chat'],
  ['https://openrouter.ai/api/v1', 'openai/gpt-5.4', 'chat'],
])('a client of %s uses for %s the API %s', async (baseURL, model, api) => {
  const used: string[] = [];
  await openai(model, { client: clientAt(baseURL, used) }).generate(hello);
  await openai(model, { client: clientAt(baseURL, used), api: 'chat' }).generate(hello);
  await openai(model, { client: clientAt(baseURL, used), api: 'responses' }).generate(hello);

  expect(used).toEqual([api, 'chat', 'responses']);
});

test('a client without `responses` uses chat completions, unless the option asks for responses', async () => {
  const used: string[] = [];
  const client = clientAt('https://api.openai.com/v1', used, false);
  await openai('gpt-5.4', { client }).generate(hello);

  expect(used).toEqual(['chat']);
  await expect(openai('gpt-5.4', { client, api: 'responses' }).generate(hello)).rejects.toThrow(
    '`client` must have `responses`',
  );
});

test('tools of the Responses API are refused with chat completions', async () => {
  const model = openai('llama3.2', { client: clientAt('http://localhost:1/v1', []), tools: [{ type: 'web_search' }] });

  await expect(model.generate(hello)).rejects.toThrow('`tools` must be used with the Responses API');
});

test('a custom tool gets its string with both APIs', async () => {
  const inputs: string[] = [];
  const sql = customTool({ name: 'sql', description: 'Runs SQL.', execute: (input) => String(inputs.push(input)) });
  const call = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'sql', input: 'SELECT "1"' };
  await using server = await startOpenAIServer((body, index) => {
    if (!body.messages) return index === 0 ? responseOf([call]) : responseOf([message('Done.')]);
    const toolCalls = [{ id: 'call_1', name: 'sql', arguments: JSON.stringify({ input: 'SELECT 2' }) }];
    return index === 2 ? replyWith({ toolCalls }, body) : replyWith({ text: 'Done.' }, body);
  });
  for (const api of ['responses', 'chat'] as const) {
    const model = openai('gpt-5.4', { baseURL: server.baseURL, apiKey: 'k', api });
    await new Agent({ model, tools: [sql] }).run('Count.');
  }

  expect(inputs).toEqual(['SELECT "1"', 'SELECT 2']);
  expect(server.requests[0]?.body.tools).toEqual([{ type: 'custom', name: 'sql', description: 'Runs SQL.' }]);
});

test('a custom tool with an invalid definition is refused', () => {
  expect(() => customTool({ name: 'no spaces', description: '', execute: () => '' })).toThrow('no spaces');
});
