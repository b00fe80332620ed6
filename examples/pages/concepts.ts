import { Agent, defineTool } from 'keelson';
import { conceptAugmentation } from 'keelson/concepts';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const notes = new Map([['tides', 'High water at 14:20.']]);
const concepts = conceptAugmentation({
  profile: 'safe',
  buildContext: ({ conceptName }) => notes.get(conceptName) ?? '',
});

const research = defineTool({
  name: 'research',
  description: 'Looks up a term.',
  input: z.object({ query: z.string() }),
  annotations: { readOnly: true },
  execute: ({ query }) => query,
});
const model = scriptedModel([calls('research', { query: 'When do we sail, by the [[tides]]?' }), says('At 14:20.')]);
const { messages } = await new Agent({ model, tools: [research], lifecycle: [concepts] }).run('When do we sail?');
console.log(messages.find(({ role }) => role === 'tool')?.content);
