import assert from 'node:assert/strict';
import { Agent, type Model } from 'keelson';
import { customTool, openai } from 'keelson/openai';

// #region chained
const chained = openai('gpt-5.2', { previousResponseId: true });
// #endregion

// #region tools
const researcher = openai('gpt-5.2', {
  tools: [{ type: 'web_search' }, { type: 'code_interpreter', container: { type: 'auto' } }],
});
// #endregion

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const input = { page: 7 };
const eraser: Model = {
  id: 'eraser',
  async generate({ messages }) {
    if (messages.at(-1)?.role === 'tool') {
      return { content: [{ type: 'text', text: 'Deleted.' }], finishReason: 'stop', usage };
    }
    const call = { type: 'tool-call', id: 'mcpr_1', name: 'mcp__docs__erase', input, needsApproval: true } as const;
    return { content: [call], finishReason: 'tool-calls', usage };
  },
};
const agent = new Agent({ model: eraser });

// #region approval
const session = await agent.session();
let result = await session.run('Delete page 7.');
if (result.status === 'suspended') {
  const resume = Object.fromEntries(result.pending.map(({ id }) => [id, 'approve' as const]));
  result = await session.run('', { resume });
}
// #endregion

// #region custom-tool
const sql = customTool({
  name: 'sql',
  description: 'Runs one SQL statement.',
  execute: (statement) => `No rows match ${statement}`,
});
// #endregion

assert.deepEqual([chained.id, researcher.provider, sql.name], ['gpt-5.2', 'openai', 'sql']);
assert.equal(result.text, 'Deleted.');
