import { setTimeout } from 'node:timers/promises';
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const search = defineTool({
  name: 'search',
  description: 'Searches the logs of the harbour.',
  input: z.object({ ship: z.string() }),
  execute: async ({ ship }) => {
    await setTimeout(100);
    return `${ship} left at six.`;
  },
});

// This model needs no key. It repeats the latest message of the person.
const model = scriptedModel([
  calls('search', { ship: 'Aurora' }),
  ({ messages }) => `You said: ${messages.findLast(({ role }) => role === 'user')?.content}`,
]);
const agent = new Agent({ model, tools: [search] });
const session = await agent.session({ id: 'harbour' });

agent.on('tool-start', async () => {
  const sent = await session.send('And where is she now?', { by: 'ada' });
  console.log((await sent.state()).type);
});
agent.on('post', ({ message }) => console.log(`joined: ${message.content}`));

const { text } = await session.run('When did the Aurora leave?');
console.log(text);
