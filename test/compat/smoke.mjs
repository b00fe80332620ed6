// Runs one tool round in each runtime. Plain JavaScript that needs only the package and the console.
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  timeoutMs: 5000,
  execute: ({ a, b }) => `the sum is ${a + b}`,
});
const model = scriptedModel([calls('add', { a: 2, b: 3 }), 'It is 5.']);

const result = await new Agent({ model, tools: [add] }).run('What is 2 + 3?');
const told = JSON.stringify(result.messages);
if (result.text !== 'It is 5.' || !told.includes('the sum is 5')) throw new TypeError(`unexpected: ${told}`);
console.log('one tool round works');
