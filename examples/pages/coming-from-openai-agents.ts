import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const tides = defineTool({
  name: 'tides',
  description: 'Returns the next high water.',
  input: z.object({ port: z.string() }),
  execute: ({ port }) => `${port}: 14:20`,
});

const expert = new Agent({
  name: 'expert',
  model: scriptedModel([calls('tides', { port: 'Bergen' }), says('At 14:20.')]),
  instructions: 'You know the tides.',
  tools: [tides],
});
const captain = new Agent({
  name: 'captain',
  model: scriptedModel([calls('expert', { prompt: 'When is high water in Bergen?' }), says('We sail at 14:20.')]),
  tools: [expert.asTool({ description: 'Knows the tides.' })],
});

const { text } = await captain.run('When do we sail?');
console.log(text);
