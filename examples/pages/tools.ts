import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const model = scriptedModel([calls('add', { a: 1, b: 2 }), says('3')]);
const { messages } = await new Agent({ model, tools: [add] }).run('What is 1 + 2?');
console.log(messages.find(({ role }) => role === 'tool')?.content);
