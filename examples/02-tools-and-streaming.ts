// Runs two tool calls in parallel. They report progress, and the answer is streamed.
import assert from 'node:assert/strict';
import { Agent, defineTool, toolResult } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const stock: Record<string, number> = { rope: 12, anchor: 0 };

const count = defineTool({
  name: 'count',
  description: 'Returns how many pieces of an article are in stock.',
  input: z.object({ article: z.string() }),
  async execute({ article }, context) {
    context.progress(`looking for ${article}`);
    const number = stock[article];
    // Returns an error that the model reads, so that it can correct its call.
    if (number === undefined) return toolResult({ content: `There is no article "${article}".`, isError: true });
    return { article, number };
  },
});

const model = scriptedModel([
  calls({ name: 'count', input: { article: 'rope' } }, { name: 'count', input: { article: 'sail' } }),
  says('There are 12 ropes. We do not sell sails.', { reasoning: 'One of the two failed.' }),
]);

const agent = new Agent({ model, tools: [count], instructions: 'You keep the stock of a ship chandler.' });
const stream = agent.stream('How many ropes and sails do we have?');
const types: string[] = [];
let shown = '';

for await (const event of stream) {
  types.push(event.type);
  if (event.type === 'text-delta') shown += event.text;
  if (event.type === 'tool-delta') console.log(`… ${event.data}`);
  if (event.type === 'tool-end') console.log(`${event.name}: ${event.result?.content}`);
}

const { text, turns, usage } = await stream.result;
console.log(`${text} (${turns} turns, ${usage.totalTokens} tokens)`);

assert.equal(shown, text);
assert.deepEqual(types.slice(0, 5), ['run-start', 'turn-start', 'model-start', 'model-end', 'tool-start']);
assert.deepEqual(types.slice(-4), ['text-delta', 'model-end', 'turn-end', 'run-end']);
assert.equal(types.filter((type) => type === 'tool-end').length, 2);
