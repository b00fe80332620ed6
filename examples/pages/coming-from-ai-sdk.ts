import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `12 °C in ${city}`,
});

// Any model of the AI SDK works: `aiSdk(google('gemini-2.5-flash'))` from 'keelson/ai-sdk'.
const model = scriptedModel([calls('weather', { city: 'Bergen' }), says('12 °C.')]);

const agent = new Agent({ model, tools: [weather], maxTurns: 20 });
const stream = agent.stream('How warm is it in Bergen?');
for await (const text of stream.text) process.stdout.write(text);
const { usage } = await stream.result;
console.log(usage.totalTokens);
