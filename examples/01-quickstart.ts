import assert from 'node:assert/strict';

// #region quickstart

import { Agent, type AgentLifecycle, defineTool } from 'keelson';
import { openai } from 'keelson/openai';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `12 °C and rain in ${city}`,
});
const log: AgentLifecycle = { beforeModel: (_messages, run) => console.log(`turn ${run.turn}`) };
const offline = scriptedModel([calls('weather', { city: 'Bergen' }), says('Take one: 12 °C and rain.')]);
const model = process.env.OPENAI_API_KEY ? openai('gpt-5-mini') : offline;

const agent = new Agent({ model, tools: [weather], lifecycle: [log] });
const { text } = await agent.run('Do I need an umbrella in Bergen?');
console.log(text);
// #endregion

assert.notEqual(text, '');
if (model === offline) offline.assertDone();
