import assert from 'node:assert/strict';
import { type } from 'arktype';
import { Agent, createToolSet, defineTool, toolResult } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import * as v from 'valibot';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

// #region arktype
const upper = defineTool({
  name: 'upper',
  description: 'Converts a text to upper case.',
  input: type({ text: 'string' }),
  execute: ({ text }) => text.toUpperCase(),
});
// #endregion

// #region valibot
const wait = defineTool({
  name: 'wait',
  description: 'Waits for some milliseconds.',
  input: v.object({ ms: v.number() }),
  // valibot schemas have no JSON Schema, so the model needs this one.
  inputSchema: { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'] },
  execute: ({ ms }) => new Promise<string>((resolve) => setTimeout(resolve, ms, 'waited')),
});
// #endregion

// #region json-schema
const echo = defineTool({
  name: 'echo',
  description: 'Returns the text.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  // `input` is checked at run time, but its type is unknown, because TypeScript cannot read the JSON Schema.
  execute: (input) => (input as { text: string }).text,
});
// #endregion

// #region returns
const chart = defineTool({
  name: 'chart',
  description: 'Draws a chart of a column.',
  input: z.object({ column: z.string() }),
  async execute({ column }, { signal }) {
    signal.throwIfAborted();
    if (column === 'name') return toolResult({ content: 'Names cannot be drawn.', isError: true });
    return [
      { type: 'text', text: `The chart of ${column}:` },
      { type: 'image', image: 'iVBORw0KGgo=', mediaType: 'image/png' },
    ];
  },
});
// #endregion

// #region live-set
const tools = createToolSet([add, upper]);
const agent = new Agent({ model: scriptedModel('Ready.'), tools });

tools.add(wait, echo);
tools.remove('upper');
// #endregion

assert.deepEqual(
  agent.status().tools.map(({ name }) => name),
  ['add', 'wait', 'echo'],
);
tools.add(upper, chart);
const all = [
  { name: 'add', input: { a: 1, b: 2 } },
  { name: 'upper', input: { text: 'sail' } },
  { name: 'wait', input: { ms: 1 } },
  { name: 'echo', input: { text: 'ahoy' } },
  { name: 'chart', input: { column: 'depth' } },
  { name: 'chart', input: { column: 'name' } },
  { name: 'echo', input: { text: 'ahoy', more: 1 } },
] as const;
const [first, ...rest] = all;
const { history } = await agent.run('Go.', { model: scriptedModel([calls(first, ...rest), says('Done.')]) });
const results = history.flatMap((message) => (message.role === 'tool' ? message.content : []));
assert.deepEqual(
  results.slice(0, 4).map(({ content }) => content),
  ['3', 'SAIL', 'waited', 'ahoy'],
);
assert.equal(results[0]?.structured, 3);
assert.equal(results[4]?.content.length, 2);
assert.deepEqual(
  results.slice(5).map(({ isError }) => isError),
  [true, true],
);
