// The oldest zod whose schemas become tools, and one release before.
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import before from 'zod-before';
import oldest from 'zod-oldest';

const toolOf = (z) =>
  defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number().optional() }),
    execute: ({ a, b = 1 }) => `the sum is ${a + b}`,
  });

const model = scriptedModel([calls('add', { a: 2, b: 'three' }), calls('add', { a: 2 }), '{"sum":3}']);
const output = oldest.object({ sum: oldest.number() });
const result = await new Agent({ model, tools: [toolOf(oldest)] }).run('What is 2 + 1?', { output });
const told = JSON.stringify(result.messages);
if (result.output?.sum !== 3 || !told.includes('the sum is 3')) throw new TypeError(`unexpected: ${told}`);
try {
  toolOf(before);
  throw new TypeError('a release without JSON Schema was accepted');
} catch (error) {
  if (!error.message.includes('4.2')) throw error;
}
console.log('schemas of zod 4.2 work, and the error for older ones names it');
