import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';

const agent = new Agent({
  name: 'pilot',
  model: scriptedModel(() => 'North-west.'),
  instructions: 'You are a pilot.',
  settings: { temperature: 0 },
  maxTurns: 10,
});
const { text, status, usage } = await agent.run('Where is the wind?');
console.log(text, status, usage.totalTokens);
await agent.close();
