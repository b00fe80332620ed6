import { setTimeout } from 'node:timers/promises';
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const build = defineTool({
  name: 'build',
  description: 'Builds the site. The result follows as a message.',
  input: z.object({}),
  execute: (_input, { run }) => run.background((signal) => setTimeout(200, '3 pages', { signal }), { label: 'build' }),
});

// This model needs no key.
const model = scriptedModel([calls('build'), 'The build goes on.', 'It is sunny.', 'The site has 3 pages.']);
const agent = new Agent({ model, tools: [build] });
const session = await agent.session({ id: 'site' });
agent.on('run-end', ({ result }) => console.log(result?.text));

await session.run('Build the site.');
await session.run('How is the weather?');
