import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, type Message } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';

// #region compaction
const KEEP = 6;

const compaction: AgentLifecycle = {
  name: 'compaction',
  onFailure: 'continue',
  async beforeModel(messages, run) {
    if (messages.length <= 2 * KEEP) return;
    const start = startOfTurn(messages, messages.length - KEEP);
    const writer = new Agent({ name: 'writer', model: run.model, instructions: 'Summarise the work so far.' });
    const { text } = await writer.run('Summarise.', { messages: messages.slice(0, start), parent: run });
    run.summarize({ text, from: messages[start], messages });
    return run.messages;
  },
};

/** Moves back to the assistant message with the tool calls, so that each tool result keeps its tool call. */
function startOfTurn(messages: readonly Message[], index: number): number {
  return messages[index]?.role === 'tool' ? index - 1 : index;
}
// #endregion

const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, execute: () => 'sea' });
const sizes: number[] = [];
const model = scriptedModel(({ messages }) => {
  const [first] = messages;
  if (first?.role === 'system' && first.content.startsWith('Summarise')) return says('looked around');
  sizes.push(messages.length);
  return sizes.length < 12 ? calls('look') : says('Only sea.');
});
const agent = new Agent({ model, tools: [look], lifecycle: [compaction], instructions: 'You keep watch.' });
const { text, history, messages } = await agent.run('Keep watch.');
assert.equal(text, 'Only sea.');
assert.deepEqual(sizes, [2, 4, 6, 8, 10, 12, 8, 10, 12, 8, 10, 12]);
assert.equal(history.length, 12);
assert.equal(messages.length, 24);
assert.equal(
  model.requests.every(({ messages: [first] }) => first?.role === 'system'),
  true,
);
