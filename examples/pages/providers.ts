import { Agent } from 'keelson';
import { openai } from 'keelson/openai';
import { scriptedModel } from 'keelson/testing';

const model = process.env.OPENAI_API_KEY ? openai('gpt-5-mini') : scriptedModel(() => 'Aye.');

const agent = new Agent({ model, settings: { maxOutputTokens: 200 } });
const { text, usage } = await agent.run('Say aye.');
console.log(text, usage);
