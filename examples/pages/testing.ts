import assert from 'node:assert/strict';
import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

// One step for each model call.
const model = scriptedModel([calls('add', { a: 1, b: 2 }), says('3')]);
const result = await new Agent({ model, tools: [add] }).run('What is 1 + 2?');

assert.equal(result.text, '3');
assert.deepEqual(result.messages[2]?.content, [
  { type: 'tool-result', id: 'call_1', name: 'add', content: '3', structured: 3 },
]);
model.assertDone();
console.log('ok');
