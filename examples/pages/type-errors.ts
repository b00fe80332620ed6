import { Agent, defineTool } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather of a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `Rain in ${city}.`,
});
const model = scriptedModel('Rain.');
const agent = new Agent({ model, tools: [weather] });
console.log((await agent.run('How is the weather?')).text);
