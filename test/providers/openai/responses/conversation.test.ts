import { Agent, defineTool } from 'keelson';
import { customTool, openai } from 'keelson/openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { strictServer } from '../../../support/providers/responses/strict-server.js';

const date = defineTool({ name: 'date', description: 'Today.', input: z.object({}), execute: () => '2026-01-01' });
const sql = customTool({ name: 'sql', description: 'Runs SQL.', execute: (statement) => `ran ${statement}` });
const mcp = { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example/mcp', require_approval: 'always' };

const output = z.object({ day: z.string() });

const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: `sealed-${id}` });
const call = (id: string, name: string) => ({
  ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name },
  ...{ arguments: '{}', status: 'completed' },
});
const approval = {
  ...{ type: 'mcp_approval_request', id: 'mcpr_1', name: 'erase', server_label: 'docs' },
  arguments: '{"page":7}',
};
const said = (text: string, phase?: string) => ({
  ...{ type: 'message', id: `msg_${text.length}`, role: 'assistant', status: 'completed', ...(phase && { phase }) },
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

test.each([true, false])(
  'an agent runs tools, answers an approval and returns structured output, streamed: %s',
  async (streams) => {
    await using server = await strictServer([
      [reasoning('rs_1'), said('I look it up.', 'commentary'), call('1', 'date'), call('2', 'date')],
      [
        reasoning('rs_2'),
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_3', name: 'sql', input: 'SELECT "1"' },
      ],
      [reasoning('rs_3'), approval],
      [
        {
          type: 'mcp_call',
          id: 'mcp_1',
          name: 'erase',
          server_label: 'docs',
          arguments: '{"page":7}',
          output: 'Erased.',
          error: null,
          status: 'completed',
          approval_request_id: 'mcpr_1',
        },
        reasoning('rs_4'),
        said('Done.', 'commentary'),
        said('{"day":"Thursday"}', 'final_answer'),
      ],
      [said('{"day":"Friday"}', 'final_answer')],
    ]);
    const model = openai('gpt-5.4', {
      baseURL: server.baseURL,
      apiKey: 'k',
      api: 'responses',
      outputMode: 'native',
      tools: [mcp],
      maxRetries: 0,
    });
    const agent = new Agent({ model, tools: [date, sql] });
    const session = await agent.session();
    const run = (input: string, options = {}) =>
      streams ? session.stream(input, { output, ...options }).result : session.run(input, { output, ...options });

    const first = await run('Which day?');
    expect(first.status).toBe('suspended');
    expect(first.pending).toMatchObject([{ id: 'mcpr_1', name: 'mcp__docs__erase', input: { page: 7 }, by: 'openai' }]);

    const second = await run('', { resume: { mcpr_1: 'approve' } });
    expect(second).toMatchObject({ status: 'completed', text: '{"day":"Thursday"}', output: { day: 'Thursday' } });

    const third = await run('And tomorrow?');
    expect(third).toMatchObject({ output: { day: 'Friday' } });
    expect(server.refusals).toEqual([]);
    expect(server.requests.at(-1)?.body.input).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Which day?' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed-rs_1' },
      { role: 'assistant', content: 'I look it up.', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'date', arguments: '{}' },
      { type: 'function_call', call_id: 'call_2', name: 'date', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: '2026-01-01' },
      { type: 'function_call_output', call_id: 'call_2', output: '2026-01-01' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed-rs_2' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_3', name: 'sql', input: 'SELECT "1"' },
      { type: 'custom_tool_call_output', call_id: 'call_3', output: 'ran SELECT "1"' },
      { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: 'sealed-rs_3' },
      approval,
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      expect.objectContaining({ type: 'mcp_call', id: 'mcp_1', output: 'Erased.' }),
      { type: 'reasoning', id: 'rs_4', summary: [], encrypted_content: 'sealed-rs_4' },
      { role: 'assistant', content: 'Done.', phase: 'commentary' },
      { role: 'assistant', content: '{"day":"Thursday"}', phase: 'final_answer' },
      { role: 'user', content: [{ type: 'input_text', text: 'And tomorrow?' }] },
    ]);
  },
);

test('the error of a model that refuses tools on chat completions names the option to change', async () => {
  await using server = await strictServer([]);
  const model = openai('gpt-5.4', { baseURL: server.baseURL, apiKey: 'k', api: 'chat', maxRetries: 0 });

  const failure = new Agent({ model, tools: [date] }).run('Which day?');

  await expect(failure).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('Use openai("gpt-5.4", { api: \'responses\' }).'),
  });
});
