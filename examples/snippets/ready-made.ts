// The code in docs/lifecycles.md and docs/ask-a-person.md.
import assert from 'node:assert/strict';
import { Agent, defineTool, HookAction, type Model } from 'keelson';
import {
  approval,
  compaction,
  fallbackModels,
  limits,
  retryModelCalls,
  toolSearch,
  truncateToolResults,
} from 'keelson/lifecycles';
import { mcpServers } from 'keelson/mcp';
import { calls, fails, says, scriptedModel } from 'keelson/testing';
import { terminalAsk } from 'keelson/trust';

const paid: unknown[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: { type: 'object', properties: { amount: { type: 'number' } } },
  execute: (input) => `paid ${paid.push(input)}`,
});
const tools = [pay];
const busy = fails(Object.assign(new Error('busy'), { status: 503, retryAfterMs: 1 }));
const model: Model = scriptedModel([busy, calls('pay', { amount: 40 }), says('Paid.'), says('All of it.')]);
const otherModel: Model = scriptedModel([]);

// #region all
const agent = new Agent({
  model,
  tools,
  lifecycle: [
    retryModelCalls({ maxRetries: 3 }),
    fallbackModels([otherModel]),
    limits({ modelCalls: 50, tokens: 500_000, perTool: { pay: 3 } }),
    compaction({ maxTokens: 100_000 }),
    truncateToolResults(),
    approval({ tools: ['pay'] }),
  ],
});
// #endregion

// #region resume
let result = await agent.run('Pay the harbour fee of 40 euro.');
while (result.status === 'suspended') {
  const resume = Object.fromEntries(result.pending.map(({ id }) => [id, 'approve' as const]));
  result = await agent.run('', { messages: result.history, resume });
}
// #endregion

assert.equal(result.text, 'Paid.');
assert.deepEqual(paid, [{ amount: 40 }]);

// #region place
const budget = {
  ...limits({ tokens: 15, onLimit: ({ used }) => HookAction.respond(`Stopped after ${used} tokens.`) }),
  name: 'budget',
  priority: 60,
};
// #endregion

const looping = new Agent({ model: scriptedModel(calls('pay')), tools, lifecycle: [budget] });
const { text, decisions } = await looping.run('Pay.');
assert.equal(text, 'Stopped after 15 tokens.');
assert.equal(decisions.at(-1)?.by, 'budget');

// #region search
const servers = mcpServers({ configFiles: ['mcp.json'] });
const finder = new Agent({ model, loaders: [servers], lifecycle: [toolSearch({ pinnedServers: ['files'] })] });
// #endregion
await finder.close();

// #region terminal
const cashier = new Agent({
  model,
  tools: [pay],
  lifecycle: [approval({ tools: ['pay'], ask: terminalAsk() })],
});
// #endregion

assert.equal(cashier.lifecycle[0]?.name, 'approval');
