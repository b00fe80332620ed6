import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `12 °C and rain in ${city}`,
});

// This model plays a script, so the program runs without a key.
const model = scriptedModel([calls('weather', { city: 'Bergen' }), says('Yes: it rains in Bergen.')]);

const agent = new Agent({ model, tools: [weather] });
const { text, turns } = await agent.run('Do I need an umbrella in Bergen?');
console.log(`${text} (${turns} turns)`);
