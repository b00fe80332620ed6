import { Agent } from 'keelson';
import { openai } from 'keelson/openai';
import { scriptedModel } from 'keelson/testing';

const model = process.env.OPENAI_API_KEY
  ? openai('gpt-5.2', { tools: [{ type: 'web_search' }] })
  : scriptedModel(() => 'High tide is at noon.');

const agent = new Agent({ model, settings: { reasoningEffort: 'low' } });
const session = await agent.session();
const { text } = await session.run('When is high tide in Brest today?');
console.log(text);
