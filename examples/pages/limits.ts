import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

const build = defineTool({
  name: 'build',
  description: 'Builds the project.',
  input: { type: 'object' },
  execute: () => {
    throw new Error('undefined is not a function\n'.repeat(100_000));
  },
});

const agent = new Agent({ model: scriptedModel([calls('build'), 'It failed.']), tools: [build] });
const { messages } = await agent.run('Build it.');
const size = JSON.stringify(messages).length;
console.log(size < 200_000 ? 'The model got the beginning of the error.' : size);
