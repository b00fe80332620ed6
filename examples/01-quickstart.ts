import assert from 'node:assert/strict';

// #region quickstart
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `12 °C and rain in ${city}`,
});

// This model plays a script, so the program runs without a key.
const model = scriptedModel([calls('weather', { city: 'Bergen' }), 'Take one: 12 °C and rain.']);

const agent = new Agent({
  model,
  tools: [weather],
  lifecycle: [{ name: 'log', beforeModel: (_messages, run) => console.log(`turn ${run.turn}`) }],
});
const { text } = await agent.run('Do I need an umbrella in Bergen?');
console.log(text);
// #endregion

assert.notEqual(text, '');
model.assertDone();
